/// Stage 7: sums per bin → best split of a node.
#ifndef XGBGPU_SPLIT_SPLIT_H_
#define XGBGPU_SPLIT_SPLIT_H_

#include <cstdint>

#include "core/fixed_point.h"
#include "matrix/matrix.h"
#include "tree/split_candidate.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Parameters of the formulas in double precision, and the units of the integer sums.
struct SplitParams {
  SplitParams() = default;  ///< uninitialised, as in shared memory
  SplitParams(TrainParams const& p, GradientFormat format);

  double reg_lambda;
  double reg_alpha;
  double max_delta_step;
  double min_child_weight;
  BinIndex max_cat_to_onehot;
  BinIndex max_cat_threshold;
  double grad_unit;
  double hess_unit;
  bool is_of_3_4;  ///< Regularisation::kOf3_4
};

/// Returns the parameters of an output of trees of vectors. They regularise as XGBoost 3.4 does, in every series. Their
/// min_child_weight is 0: it counts for the mean of all outputs (IsHeavyEnough).
SplitParams ParamsOfOutput(TrainParams const& p, GradientFormat format);

/// Returns the sum of a node from `sums` [outputs], in no unit. Its hessian only tells which child has fewer rows.
GradientSum TotalOfOutputs(Span<GradientSum const> sums);

/// The range of a node's weight that keeps the monotone constraints above the node.
struct WeightBounds {
  float lower{-3.402823466e+38f};
  float upper{3.402823466e+38f};
};

namespace host {

/// Returns the best split of one node over `features`.
///
/// For every feature two scans: missing values to the right, bins ascending; then, if the node has rows without the
/// feature, missing values to the left, bins descending. Total order of candidates: gain (rounded to float) first, then
/// the smaller feature, then the order of the scans. Empty bins repeat the previous candidate and are skipped.
/// Categorical features: category_split.h.
///
/// In      sums      [cells] of the node
///         total     sum over all rows of the node, missing values included
///         features  ascending
///         directions  [all features] of monotone constraints; empty: none, and `bounds` is unused
///         bounds    of the node's weight
/// Cost    reads the bins of `features` once or twice; one division pair per bin that is not empty
/// Same    bit-equal on every backend: the sums are integers, the formulas a fixed sequence of double operations
/// From    Chen & Guestrin, "XGBoost", KDD 2016, algorithm 3 (sparsity-aware split finding), on histograms
SplitCandidate EvaluateSplits(SplitParams const& params, QuantisedMatrix const& matrix, GradientSum const* sums,
                              GradientSum total, Span<FeatureIndex const> features,
                              Span<std::int8_t const> directions = {}, WeightBounds bounds = {});

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SPLIT_H_
