/// The formulas of constrained splits, as XGBoost 1.7's hist has them.
#ifndef XGBGPU_SPLIT_CONSTRAINT_OPS_H_
#define XGBGPU_SPLIT_CONSTRAINT_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "split/split_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// What the formulas ask of a node that is to be split.
struct NodeTerms {
  double gain;  ///< NodeGain or BoundedGain
  WeightBounds bounds;
};

/// NodeWeight, clipped to the bounds and rounded to float. Rounding keeps the order, so the float is in the bounds too.
XGBGPU_HD float BoundedWeight(SplitParams const& p, LossSum s, WeightBounds bounds) {
  double const w = NodeWeight(p, s);
  return static_cast<float>(w < bounds.lower ? bounds.lower : (w > bounds.upper ? bounds.upper : w));
}

/// What a leaf adds to a margin, before the learning rate. `bounds`: nullptr without monotone constraints.
XGBGPU_HD float LeafWeight(SplitParams const& p, LossSum s, WeightBounds const* bounds) {
  return bounds == nullptr ? static_cast<float>(NodeWeight(p, s)) : BoundedWeight(p, s, *bounds);
}

/// Twice the loss that the output `weight` takes away. As in XGBoost, the L1 penalty of the weight is not part of it.
XGBGPU_HD double BoundedGain(SplitParams const& p, LossSum s, float weight) {
  if (s.hess <= 0.0) return 0.0;
  double const w = weight;
  return -(2.0 * s.grad * w + (s.hess + p.reg_lambda) * (w * w));
}

/// kMonotone: some feature has a direction, so weights have bounds.
template <bool kMonotone>
XGBGPU_HD NodeTerms TermsOf(SplitParams const& p, GradientSum total, WeightBounds bounds) {
  LossSum const s = ToLoss(p, total);
  return {kMonotone ? BoundedGain(p, s, BoundedWeight(p, s, bounds)) : NodeGain(p, s), bounds};
}

/// SplitGain with the weights that the bounds allow; 0 as well if they go against the feature's `direction`.
template <bool kMonotone>
XGBGPU_HD float SplitGain(SplitParams const& p, GradientSum left, GradientSum right, NodeTerms const& node,
                          int direction) {
  if (!kMonotone) return SplitGain(p, left, right, node.gain);
  if (left.hess <= 0 || right.hess <= 0) return 0.0f;
  LossSum const l = ToLoss(p, left), r = ToLoss(p, right);
  if (l.hess < p.min_child_weight || r.hess < p.min_child_weight) return 0.0f;
  float const lw = BoundedWeight(p, l, node.bounds), rw = BoundedWeight(p, r, node.bounds);
  if ((direction > 0 && lw > rw) || (direction < 0 && lw < rw)) return 0.0f;
  return FiniteGain(BoundedGain(p, l, lw) + BoundedGain(p, r, rw) - node.gain);
}

/// Bounds of a child of a node with `bounds` that is split by a feature of `direction`, not 0. Below a constrained
/// split the weights on either side stay on their side of the middle between the children's weights.
XGBGPU_HD WeightBounds BoundsBelow(WeightBounds bounds, int direction, float left, float right, bool is_right) {
  auto const middle = static_cast<float>((static_cast<double>(left) + static_cast<double>(right)) / 2.0);
  if ((direction > 0) == is_right) {
    bounds.lower = middle;
  } else {
    bounds.upper = middle;
  }
  return bounds;
}

/// The same, of the sums of the children.
XGBGPU_HD WeightBounds BoundsOfChild(SplitParams const& p, WeightBounds bounds, int direction, GradientSum left,
                                     GradientSum right, bool is_right) {
  if (direction == 0) return bounds;
  return BoundsBelow(bounds, direction, BoundedWeight(p, ToLoss(p, left), bounds),
                     BoundedWeight(p, ToLoss(p, right), bounds), is_right);
}

/// May a node below the root be split by a feature? `node_sets`: the interaction sets that hold every feature above the
/// node; `feature_sets`: those that hold the feature. There is none of the former only if the root was split by a
/// feature in no set, which then is the only one in the tree (`is_first`: this one).
XGBGPU_HD bool MayMeet(std::uint32_t const* node_sets, std::uint32_t const* feature_sets, std::uint32_t words,
                       bool is_first) {
  bool some = false;
  for (std::uint32_t w = 0; w < words; ++w) {
    if ((node_sets[w] & feature_sets[w]) != 0) return true;
    some |= node_sets[w] != 0;
  }
  return !some && is_first;
}

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_CONSTRAINT_OPS_H_
