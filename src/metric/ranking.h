/// Metrics of ranking groups: pre, ndcg and map, auc and aucpr over groups; for the metric stage alone.
///
/// Rows of a group are ordered by prediction, the largest first, equal ones as they lie. With positions from 1 and a
/// hit being a label whose integer part is not 0, a group's value is
///   pre@k    hits among the first k rows / k
///   map@k    mean over all hits of (hits up to the hit's position) / position, 0 for hits behind the first k;
///            1 (with '-': 0) without a hit
///   ndcg@k   sum of (2^label - 1) / log2(position + 1) over the first k rows, divided by the same for the best order;
///            1 (with '-': 0) if that is 0
///   auc      pairs of rows in the order of their labels, the larger first: the share that predictions order so, half
///            for equal predictions. Pairs of equal labels count too, as they lie: so does XGBoost 1.7. No value for
///            less than three rows.
///   aucpr    as metric/auc.h has it, of the group alone, where labels are 0 to 1. No value for a group without a
///            positive or a negative row, or of weight 0.
/// The metric is the mean over groups that have a value. Without group_ptr pre, ndcg and map see one group. Weights of
/// groups do not matter but for auc, where a group of weight 0 counts as 0, and aucpr.
///
/// A group's sum is in the order of metric_sum.h, over its positions.
///
/// Cost: two sorts at most; on a device a block of threads for each group, or for each kSumBlock rows of a longer one;
/// auc compares all pairs, as stock does.
#ifndef XGBGPU_METRIC_RANKING_H_
#define XGBGPU_METRIC_RANKING_H_

#include "metric/metric_sum.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

/// True if Evaluate below computes it.
constexpr bool IsRanking(Metric metric, TargetView const& targets) {
  return metric == Metric::kPre || metric == Metric::kNdcg || metric == Metric::kMap ||
         ((metric == Metric::kAuc || metric == Metric::kAucpr) && targets.group_ptr != nullptr);
}

/// From the sums over groups of values, weight 1 for each group that has one. Throws InvalidArgument for a bad label.
double FinishRanking(MetricParams const& params, MetricSum const& sum);

namespace host {
/// The metric for which IsRanking holds. In and errors: as Evaluate, which has checked them (CheckMetricInput).
double EvaluateRanking(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                       int threads, Collective& collective);
}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_RANKING_H_
