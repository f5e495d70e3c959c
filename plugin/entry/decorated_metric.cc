// Hands the evaluation of a stock metric to the booster that made the predictions.
#include "entry/decorated_metric.h"

#include <xgboost/json.h>

#include "booster/booster.h"
#include "booster/evaluation.h"
#include "booster/group_rounds.h"
#include "errors/boundary.h"
#include "group/all_labels.h"
#include "group/process_group.h"
#include "params/saved_params.h"

namespace xgbgpu::plugin {

std::optional<MetricParams> const& DecoratedMetric::params() {
  if (!is_current_ && maker_ == Maker::kKnown) {
    xgboost::Json config{xgboost::Object{}};
    SaveConfig(&config);
    params_ = MetricParamsOf(Name(), config);
  }
  is_current_ = true;
  return params_;
}

std::optional<double> DecoratedMetric::Compute(xgboost::HostDeviceVector<float> const& predictions,
                                               xgboost::MetaInfo const& info, StockValue const& by_stock) {
  auto const ours = EvaluateOurs(
      context(), Name(), [this] { return params(); }, predictions, info);
  return ours ? ours : AtBoundary("evaluating", [&] { return ComputeOfAll(predictions, info, by_stock); });
}

std::optional<double> DecoratedMetric::ComputeOfAll(xgboost::HostDeviceVector<float> const& predictions,
                                                    xgboost::MetaInfo const& info, StockValue const& by_stock) const {
  bool const is_ours = Booster::WhichPredictedLast(context()) != nullptr && Booster::TrainsFor(context());
  ProcessGroup* const group = is_ours ? ProcessGroup::OfThisThread() : nullptr;
  if (group == nullptr) return {};
  Agree(*group, FactsOfEvaluation(context()), [] {});
  AllLabels const all = LabelsOfAll(group, info);
  if (all.info->num_row_ == 0) return {};
  xgboost::HostDeviceVector<float> of_all;
  of_all.HostVector() = GatherAll(*group, Span<float const>{predictions.ConstHostVector()});
  double value = 0;
  OutsideProcessGroup([&] { value = by_stock(of_all, all.info.get()); });
  return value;
}

}  // namespace xgbgpu::plugin
