/// The formulas of constrained splits in XGBoost's hist.
#ifndef XGBGPU_SPLIT_CONSTRAINT_OPS_H_
#define XGBGPU_SPLIT_CONSTRAINT_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "split/split_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Terms of a node in the formulas.
struct NodeTerms {
  double gain;  ///< NodeGain or BoundedGain
  WeightBounds bounds;
};

/// Returns NodeWeight, clipped to the bounds and rounded to float. Rounding keeps the order, so the float is within the
/// bounds, too.
XGBGPU_HD float BoundedWeight(SplitParams const& p, LossSum s, WeightBounds bounds) {
  double const w = NodeWeight(p, s);
  return static_cast<float>(w < bounds.lower ? bounds.lower : (w > bounds.upper ? bounds.upper : w));
}

/// Returns a leaf's addition to margins, before the learning rate. `bounds`: nullptr without monotone constraints.
XGBGPU_HD float LeafWeight(SplitParams const& p, LossSum s, WeightBounds const* bounds) {
  return bounds == nullptr ? static_cast<float>(NodeWeight(p, s)) : BoundedWeight(p, s, *bounds);
}

/// Returns LimitedGain of the output `weight`; 0 without hessians.
XGBGPU_HD double BoundedGain(SplitParams const& p, LossSum s, float weight) {
  return s.hess <= 0.0 ? 0.0 : LimitedGain(p, s, weight);
}

/// kMonotone: a feature has a direction, so weights have bounds.
template <bool kMonotone>
XGBGPU_HD NodeTerms TermsOf(SplitParams const& p, GradientSum total, WeightBounds bounds) {
  LossSum const s = ToLoss(p, total);
  return {kMonotone ? BoundedGain(p, s, BoundedWeight(p, s, bounds)) : NodeGain(p, s), bounds};
}

/// Returns SplitGain with weights within the bounds; 0 if the weights violate the feature's `direction`.
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

/// Returns the bounds of a child of a node with `bounds` that is split by a feature of `direction`, not 0. Below a
/// constrained split, weights on each side stay on their side of the middle between the children's weights.
XGBGPU_HD WeightBounds BoundsBelow(WeightBounds bounds, int direction, float left, float right, bool is_right) {
  auto const middle = static_cast<float>((static_cast<double>(left) + static_cast<double>(right)) / 2.0);
  if ((direction > 0) == is_right) {
    bounds.lower = middle;
  } else {
    bounds.upper = middle;
  }
  return bounds;
}

/// The same from the sums of the children.
XGBGPU_HD WeightBounds BoundsOfChild(SplitParams const& p, WeightBounds bounds, int direction, GradientSum left,
                                     GradientSum right, bool is_right) {
  if (direction == 0) return bounds;
  return BoundsBelow(bounds, direction, BoundedWeight(p, ToLoss(p, left), bounds),
                     BoundedWeight(p, ToLoss(p, right), bounds), is_right);
}

/// Returns true if a node below the root may be split by a feature. `node_sets`: the interaction sets that hold every
/// feature above the node. `feature_sets`: the interaction sets that hold the feature. node_sets is empty only if the
/// root was split by a feature in no set. No other feature may then occur in the tree (`is_first`: it is this feature).
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
