#include "metric.h"

#include <xgboost/json.h>
#include <xgboost/logging.h>

#include <cmath>

#include "adapt_input.h"
#include "booster.h"
#include "boundary.h"
#include "core/message.h"
#include "host_span.h"
#include "metric/ranking.h"
#include "saved_number.h"

namespace xgbgpu::plugin {

namespace {

/// Metric::tparam_ is for derived classes.
struct Context : xgboost::Metric {
  static auto Member() { return &Context::tparam_; }
};

std::optional<MetricParams> ParamsOf(xgboost::Metric const& metric) {
  auto params = MetricByName(metric.Name());
  if (!params) return params;
  xgboost::Json config{xgboost::Object{}};
  metric.SaveConfig(&config);
  params->huber_slope = SavedNumber(config, "pseudo_huber_param", "huber_slope", params->huber_slope);
  params->aft_distribution = SavedDistribution(config);
  params->aft_scale = SavedNumber(config, "aft_loss_param", "aft_loss_distribution_scale", params->aft_scale);
  return params;
}

/// In stock's words, as often.
void WarnIfWithoutArea(Metric metric, double value) {
  if ((metric == Metric::kAuc || metric == Metric::kAucpr) && std::isnan(value)) {
    LOG(WARNING) << "Dataset is empty, or contains only positive or negative samples.";
  }
}

/// Stock code looks for a weight of every row, finds the end of those of groups and ends the process (metrics of
/// classes and times: reads on). Metrics over groups and of hazards do not; nor do others where a group is one row.
void CheckWeightsForStock(MetricParams const& metric, xgboost::MetaInfo const& info) {
  TargetView const targets = ViewTargets(info);
  if (targets.group_ptr == nullptr || targets.weights == nullptr || targets.groups == info.num_row_) return;
  if (metric.kind == Metric::kCoxNloglik || IsRanking(metric.kind, targets)) return;
  Throw<InvalidArgument>("Metric ", NameOf(metric.kind), " needs weights of rows; the data have weights of ",
                         targets.groups, " ranking groups; allowed: no weights, or metrics of rankings");
}

/// Stock code reads these by the number of the row alone, and ends the process where rows have several labels.
void CheckLabelsForStock(std::string const& metric, xgboost::MetaInfo const& info) {
  std::string name = metric.substr(0, metric.find('@'));
  if (!name.empty() && name.back() == '-') name.pop_back();
  std::uint32_t const columns = ViewTargets(info).label_columns;
  if (columns <= 1) return;
  for (char const* const of_one : {"ndcg", "map", "pre", "ams", "cox-nloglik"}) {
    if (name == of_one)
      Throw<InvalidArgument>("Metric ", metric, ": the data have ", columns, " labels a row; allowed: 1");
  }
}

}  // namespace

DecoratedMetric::DecoratedMetric(std::unique_ptr<xgboost::Metric> inner, Maker maker)
    : inner_{std::move(inner)}, maker_{maker} {
  // XGBoost leaves both uninitialised.
  tparam_ = nullptr;
  inner_.get()->*Context::Member() = nullptr;
}

xgboost::Metric* DecoratedMetric::inner() const {
  auto& context = inner_.get()->*Context::Member();
  if (context != tparam_) context = tparam_;
  return inner_.get();
}

void DecoratedMetric::Configure(xgboost::Args const& args) {
  inner()->Configure(args);
  configured_ = false;
}

void DecoratedMetric::LoadConfig(xgboost::Json const& in) {
  inner()->LoadConfig(in);
  configured_ = false;
}

std::optional<MetricParams> const& DecoratedMetric::params() {
  if (!configured_ && maker_ == Maker::kKnown) params_ = ParamsOf(*inner());
  configured_ = true;
  return params_;
}

double DecoratedMetric::Eval(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info) {
  HostSpan span{"metric"};
  auto const value = AtBoundary("evaluating", [&]() -> std::optional<double> {
    Booster* const booster = Booster::WhichPredictedLast(tparam_);
    if (booster == nullptr) return {};
    if (params()) {
      if (auto const ours = booster->Evaluate(*params(), predictions, info)) {
        WarnIfWithoutArea(params()->kind, *ours);
        return ours;
      }
      CheckWeightsForStock(*params(), info);
    }
    CheckLabelsForStock(inner()->Name(), info);
    booster->FillPredictions(predictions);
    return {};
  });
  return value ? *value : inner()->Eval(predictions, info);
}

}  // namespace xgbgpu::plugin
