// Hands the evaluation of a stock metric to the booster that made the predictions.
#include "entry/decorated_metric.h"

#include <xgboost/json.h>

#include "booster/booster.h"
#include "booster/evaluation.h"
#include "booster/group_facts.h"
#include "errors/boundary.h"
#include "group/all_labels.h"
#include "group/process_group.h"
#include "matrix/adapt_input.h"
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
  if (ours) return ours;
  return AtBoundary("evaluating", [&] {
    auto const of_all = ComputeOfAll(predictions, info, by_stock);
    return of_all ? of_all : ComputeOfChanged(predictions, info, by_stock);
  });
}

std::optional<double> DecoratedMetric::ComputeOfChanged(xgboost::HostDeviceVector<float> const& predictions,
                                                        xgboost::MetaInfo const& info, StockValue const& by_stock) {
  if (kSeries < 300 || Booster::WhichPredictedLast(context()) == nullptr) return {};
  std::string const name = Name();
  bool const ranks = name.rfind("ndcg", 0) == 0 || name.rfind("map", 0) == 0 || name.rfind("pre", 0) == 0;
  if (!ranks || name == "mape") return {};
  auto const mark =
      TargetMark::Of(ViewTargets(info), info.num_row_, Objective::kRankNdcg, DataEpoch{}, context()->Threads());
  if (ranked_.try_emplace(&info, mark).first->second == mark) return {};
  xgboost::MetaInfo copy;
  copy.Extend(info, true, false);
  return by_stock(predictions, &copy);
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
