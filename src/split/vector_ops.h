/// The formulas of trees of vectors: sums of the formulas of each output. docs/adr/0043-vector-leaves.md
///
/// From  Zhang & Jung, "GBDT-MO: Gradient-Boosted Decision Trees for Multiple Outputs", IEEE TNNLS 2021; the rules of
///       regularisation and constraints are those of XGBoost 3.4's hist
#ifndef XGBGPU_SPLIT_VECTOR_OPS_H_
#define XGBGPU_SPLIT_VECTOR_OPS_H_

#include "base/float_bits.h"
#include "base/hd.h"
#include "split/constraint_ops.h"
#include "split/split_ops.h"

namespace xgbgpu {

/// Hessian sums of both sides of a split, over all outputs.
struct SideHessians {
  double left;
  double right;
};

/// Returns true if both sides have hessians, and their mean over outputs reaches min_child_weight.
XGBGPU_HD bool IsHeavyEnough(SideHessians h, double outputs, double min_child_weight) {
  return h.left > 0.0 && h.right > 0.0 && h.left / outputs >= min_child_weight && h.right / outputs >= min_child_weight;
}

/// Weights of an output on both sides of a split.
struct SideWeights {
  float left;
  float right;
};

/// Returns the weights within the bounds. Where they violate the feature's `direction`, both sides get one weight, the
/// best for both.
XGBGPU_HD SideWeights OrderedWeights(SplitParams const& p, LossSum left, LossSum right, WeightBounds bounds,
                                     int direction) {
  SideWeights const w{BoundedWeight(p, left, bounds), BoundedWeight(p, right, bounds)};
  if ((direction <= 0 || w.left <= w.right) && (direction >= 0 || w.left >= w.right)) return w;
  SplitParams both = p;  // the weight stands in two leaves, each with its own penalty
  both.reg_lambda *= 2.0;
  both.reg_alpha *= 2.0;
  float const shared = BoundedWeight(both, {left.grad + right.grad, left.hess + right.hess}, bounds);
  return {shared, shared};
}

/// Returns the best output of the rows of a sum, alone.
XGBGPU_HD float BestOutput(SplitParams const& p, GradientSum sum) {
  return static_cast<float>(NodeWeight(p, ToLoss(p, sum)));
}

/// Returns an output's part of the product by which a category is sorted: the best output of its rows, times the `own`
/// of the node.
XGBGPU_HD double PartOfProduct(SplitParams const& p, float own, GradientSum of_category) {
  return static_cast<double>(own * BestOutput(p, of_category));
}

/// Returns the sort key of a category whose parts sum to `product`, in the order of outputs. NaN is sorted as 0,
/// because backends make different ones.
XGBGPU_HD std::uint64_t CategoryKeyOfProduct(double product, BinIndex category) {
  auto const rounded = static_cast<float>(product);
  return (std::uint64_t{AscendingKey(rounded == rounded ? rounded : 0.0f)} << 32) | category;
}

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_VECTOR_OPS_H_
