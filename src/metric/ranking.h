/// Metrics of ranking groups: pre, ndcg and map, auc and aucpr over groups. Internal to the metric stage.
///
/// Rows of a group are ordered by prediction, the largest first, rows with equal predictions in their own order.
/// Positions count from 1. A hit is a row whose label has an integer part other than 0. A group's value:
///   pre@k    hits among the first k rows / k
///   map@k    mean over all hits of (hits up to the hit's position) / position, 0 for hits behind the first k;
///            1 (with '-': 0) without a hit
///   ndcg@k   sum of (2^label - 1) / log2(position + 1) over the first k rows, divided by the same for the best order;
///            1 (with '-': 0) if the best order's sum is 0
///   auc      pairs of rows in the order of their labels, the larger first: the share that predictions order alike,
///            half for equal predictions. Pairs of equal labels count too, in their own order, as in XGBoost 1.7. No
///            value for less than three rows.
///   aucpr    as in metric/auc.h, over the group, with labels 0 to 1. No value for a group without a positive or a
///            negative row, or of weight 0.
/// The metric is the mean over groups that have a value. Without group_ptr all rows are one group of pre, ndcg and map.
/// Weights of groups matter for auc, where a group of weight 0 counts as 0, and aucpr only.
///
/// A group's sum has the order of metric_sum.h over its positions.
///
/// Cost: two sorts at most. On a device a block of threads takes each group, or each kSumBlock rows of a longer one.
/// auc compares all pairs, as stock does.
#ifndef XGBGPU_METRIC_RANKING_H_
#define XGBGPU_METRIC_RANKING_H_

#include "metric/metric_sum.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

/// Returns the metric from the sums of the values of groups. A group with a value has the weight 1. Throws
/// InvalidArgument for a bad label.
double FinishRanking(MetricParams const& params, MetricSum const& sum);

namespace host {
/// Returns a metric with IsRanking. Input and errors are Evaluate's, which has checked the input (CheckMetricInput).
double EvaluateRanking(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                       int threads, Collective& collective);
}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_RANKING_H_
