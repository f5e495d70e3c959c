/// The formulas of symmetric trees: the weights of a level's nodes, and the gains of dividing them.
/// docs/adr/0022-symmetric-trees.md
///
/// A division may give a child too few hessians for a weight of its own. Such a child carries its parent's weight.
#ifndef XGBGPU_SPLIT_SYMMETRIC_OPS_H_
#define XGBGPU_SPLIT_SYMMETRIC_OPS_H_

#include "base/hd.h"
#include "split/constraint_ops.h"
#include "split/split_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A node of a level that is to be divided. Its hessian sum is above 0.
struct LevelNode {
  GradientSum total;
  double gain;          ///< gain of its weight: its part of the scores of the level above
  float weight;         ///< its own, or carried from its parent
  WeightBounds bounds;  ///< of its weight and of the weights below; unused without monotone constraints
};

/// Weights of the two children of a node.
struct ChildWeights {
  float left, right;
};

/// Returns true if a node with this sum has a weight of its own.
XGBGPU_HD bool HasOwnWeight(SplitParams const& p, LossSum s) { return s.hess > 0.0 && s.hess >= p.min_child_weight; }

/// Returns the weight of a child: its own, or its parent's.
template <bool kMonotone>
XGBGPU_HD float WeightOrCarried(SplitParams const& p, LossSum s, LevelNode const& parent) {
  if (!HasOwnWeight(p, s)) return parent.weight;
  return kMonotone ? BoundedWeight(p, s, parent.bounds) : static_cast<float>(NodeWeight(p, s));
}

/// Returns the weights of the children of a node that is divided by a feature of this direction.
template <bool kMonotone>
XGBGPU_HD ChildWeights WeightsOfChildren(SplitParams const& p, LossSum left, LossSum right, LevelNode const& node,
                                         int direction) {
  float const l = WeightOrCarried<kMonotone>(p, left, node), r = WeightOrCarried<kMonotone>(p, right, node);
  bool const breaks = kMonotone && ((direction > 0 && l > r) || (direction < 0 && l < r));
  return breaks ? ChildWeights{node.weight, node.weight} : ChildWeights{l, r};
}

/// Returns twice the reduction of the loss by a node's weight. A carried weight pays the L1 penalty like a weight of
/// its own.
template <bool kMonotone>
XGBGPU_HD double GainOfWeight(SplitParams const& p, LossSum s, float weight) {
  if (kMonotone) return BoundedGain(p, s, weight);
  if (HasOwnWeight(p, s)) return NodeGain(p, s);
  double const gain = BoundedGain(p, s, weight);
  if (p.is_of_3_4 || p.reg_alpha == 0.0 || p.max_delta_step != 0.0 || s.hess <= 0.0) return gain;
  return gain - 2.0 * p.reg_alpha * static_cast<double>(weight < 0.0f ? -weight : weight);
}

/// Returns the gain of a division, a term of the candidate's score; 0 if a side has no hessian.
template <bool kMonotone>
XGBGPU_HD double DivisionGain(SplitParams const& p, GradientSum left, GradientSum right, LevelNode const& node,
                              int direction) {
  if (left.hess <= 0 || right.hess <= 0) return 0.0;
  LossSum const l = ToLoss(p, left), r = ToLoss(p, right);
  ChildWeights w{node.weight, node.weight};
  if (kMonotone) w = WeightsOfChildren<kMonotone>(p, l, r, node, direction);
  return GainOfWeight<kMonotone>(p, l, w.left) + GainOfWeight<kMonotone>(p, r, w.right) - node.gain;
}

/// Returns the root of a tree. Without a weight of its own it has the weight 0.
template <bool kMonotone>
XGBGPU_HD LevelNode LevelRoot(SplitParams const& p, GradientSum total) {
  LossSum const s = ToLoss(p, total);
  LevelNode root{total, 0.0, 0.0f, {}};
  root.weight = WeightOrCarried<kMonotone>(p, s, root);
  root.gain = GainOfWeight<kMonotone>(p, s, root.weight);
  return root;
}

/// Returns the children of a node that is divided into `left` and `right`.
template <bool kMonotone>
XGBGPU_HD void MakeLevelChildren(SplitParams const& p, GradientSum left, GradientSum right, LevelNode const& node,
                                 int direction, LevelNode* children) {
  LossSum const l = ToLoss(p, left), r = ToLoss(p, right);
  ChildWeights const w = WeightsOfChildren<kMonotone>(p, l, r, node, direction);
  children[0] = {left, GainOfWeight<kMonotone>(p, l, w.left), w.left, node.bounds};
  children[1] = {right, GainOfWeight<kMonotone>(p, r, w.right), w.right, node.bounds};
  for (int side = 0; kMonotone && direction != 0 && side < 2; ++side) {
    children[side].bounds = BoundsBelow(node.bounds, direction, w.left, w.right, side != 0);
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SYMMETRIC_OPS_H_
