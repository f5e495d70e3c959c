#include "booster/evaluate.h"

#include <xgboost/logging.h>

#include <cmath>

#include "base/message.h"
#include "base/quoted.h"
#include "booster/booster.h"
#include "errors/boundary.h"
#include "matrix/adapt_input.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

namespace {

/// Warns in the words of stock code, and as often.
void WarnIfWithoutArea(Metric metric, double value) {
  if ((metric == Metric::kAuc || metric == Metric::kAucpr) && std::isnan(value)) {
    LOG(WARNING) << "Dataset is empty, or contains only positive or negative samples.";
  }
}

/// Throws where stock code looks for a weight of every row and finds only those of groups: at their end it ends the
/// process, or, for metrics of classes and times, reads on. Metrics over groups and of hazards do not; nor do others
/// where a group is one row.
void CheckWeightsForStock(MetricParams const& metric, xgboost::MetaInfo const& info) {
  TargetView const targets = ViewTargets(info);
  if (targets.group_ptr == nullptr || targets.weights == nullptr || targets.groups == info.num_row_) return;
  if (metric.kind == Metric::kCoxNloglik || IsRanking(metric.kind, targets)) return;
  Throw<InvalidArgument>("Metric ", NameOf(metric.kind),
                         " needs one weight for each row, but the data have weights of ", targets.groups,
                         " ranking groups; allowed: no weights, or a metric of rankings");
}

/// Stock code reads these by the number of the row alone, and ends the process where rows have several labels.
void CheckLabelsForStock(std::string const& metric, xgboost::MetaInfo const& info) {
  std::string name = metric.substr(0, metric.find('@'));
  if (!name.empty() && name.back() == '-') name.pop_back();
  std::uint32_t const columns = ViewTargets(info).label_columns;
  if (columns <= 1) return;
  for (char const* const of_one : {"ndcg", "map", "pre", "ams", "cox-nloglik"}) {
    if (name == of_one)
      Throw<InvalidArgument>("Metric ", Escaped(metric, 80), ": the data have ", columns, " labels a row; allowed: 1");
  }
}

}  // namespace

std::optional<double> EvaluateOurs(XgbContext const* ctx, std::string const& name,
                                   std::function<std::optional<MetricParams>()> const& params,
                                   xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info) {
  HostSpan span{"metric"};
  return AtBoundary("evaluating", [&]() -> std::optional<double> {
    Booster* const booster = Booster::WhichPredictedLast(ctx);
    if (booster == nullptr) return {};
    if (auto const metric = params()) {
      if (auto const ours = booster->Evaluate(*metric, predictions, info)) {
        WarnIfWithoutArea(metric->kind, *ours);
        return ours;
      }
      CheckWeightsForStock(*metric, info);
    }
    CheckLabelsForStock(name, info);
    booster->FillPredictions(predictions);
    return {};
  });
}

}  // namespace xgbgpu::plugin
