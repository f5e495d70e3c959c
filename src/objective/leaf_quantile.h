/// Adaptive leaves: reg:absoluteerror gives every leaf of a grown tree the median of its rows' residuals, and
/// reg:quantileerror a quantile.
///
/// Bit-equal to XGBoost 1.7.4 to 3.3 on the host: for weighted rows sums of weights in single precision, one row after
/// another.
#ifndef XGBGPU_OBJECTIVE_LEAF_QUANTILE_H_
#define XGBGPU_OBJECTIVE_LEAF_QUANTILE_H_

#include <cstddef>

#include "xgbgpu/collective.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Throws InvalidArgument, with the node's number, if a quantile of `node_values` is NaN: a residual was not a number,
/// or two neighbours were further apart than a float can express.
void CheckQuantiles(Span<float const> node_values);

namespace host {

/// Sets residuals[i] = labels[i] - margins[i · stride] for all rows.
void ComputeResiduals(float const* labels, float const* margins, std::size_t stride, Span<float> residuals,
                      int threads);

/// Replaces node_values[leaf] by the quantile alpha, 0 to 1, of its rows' residuals.
///
/// In      positions    [rows]: the leaf of each row, its complement for rows outside the tree's sample
///         residuals    [rows]
///         weights      [rows], >= 0 and finite; or null
///         node_values  [nodes]; values of nodes without a row that counts stay: inner nodes, and leaves with all rows
///                      outside the sample or of weight 0
/// Out     Without weights: the k-th of n residuals is the quantile k / (n + 1), and between two it is interpolated;
///         the median is the middle residual, or the mean of the middle two. A zero among several residuals is 0, where
///         XGBoost takes the sign of the first one. With weights: the first residual in
///         ascending order at which the sum of weights reaches alpha times the total; rows with equal residuals in
///         their order.
/// Cost    A pass that sorts rows by leaf, then for each leaf a selection in linear time, or a sort if there are
///         weights; parallel over leaves. Memory: 8 bytes a row, 4 more with weights. With shards, every shard receives
///         the positions, residuals and weights of all rows: 8 or 12 bytes a row.
/// Same    bit-equal on every backend, thread count and number of shards
void QuantileLeaves(Span<NodeIndex const> positions, Span<float const> residuals, float const* weights, double alpha,
                    Span<float> node_values, int threads, Collective& collective = NoOtherShards());

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_LEAF_QUANTILE_H_
