/// The formulas of symmetric trees: what a node of a level has, and what dividing it gains.
/// docs/adr/0022-symmetric-trees.md
///
/// Rows are divided even where that makes a child which may have no weight of its own. It carries its parent's.
#ifndef XGBGPU_SPLIT_SYMMETRIC_OPS_H_
#define XGBGPU_SPLIT_SYMMETRIC_OPS_H_

#include "base/hd.h"
#include "split/constraint_ops.h"
#include "split/split_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A node of a level that is to be divided. Its hessian is above 0.
struct LevelNode {
  GradientSum total;
  double gain;          ///< of its weight: its part of the scores of the level above
  float weight;         ///< its own, or one that it carries
  WeightBounds bounds;  ///< of its weight and of those below it; without monotone constraints they do not count
};

/// Weights of the two children of a node.
struct ChildWeights {
  float left, right;
};

/// Has a node with this sum a weight of its own?
XGBGPU_HD bool HasOwnWeight(SplitParams const& p, LossSum s) { return s.hess > 0.0 && s.hess >= p.min_child_weight; }

/// The weight of a child: its own, or that of its parent.
template <bool kMonotone>
XGBGPU_HD float WeightOrCarried(SplitParams const& p, LossSum s, LevelNode const& parent) {
  if (!HasOwnWeight(p, s)) return parent.weight;
  return kMonotone ? BoundedWeight(p, s, parent.bounds) : static_cast<float>(NodeWeight(p, s));
}

/// The weights of the children of a node that is divided by a feature of this direction.
template <bool kMonotone>
XGBGPU_HD ChildWeights WeightsOfChildren(SplitParams const& p, LossSum left, LossSum right, LevelNode const& node,
                                         int direction) {
  float const l = WeightOrCarried<kMonotone>(p, left, node), r = WeightOrCarried<kMonotone>(p, right, node);
  bool const breaks = kMonotone && ((direction > 0 && l > r) || (direction < 0 && l < r));
  return breaks ? ChildWeights{node.weight, node.weight} : ChildWeights{l, r};
}

/// Twice the loss that a node's weight takes away. A weight that is carried pays the L1 penalty where one's own does.
template <bool kMonotone>
XGBGPU_HD double GainOfWeight(SplitParams const& p, LossSum s, float weight) {
  if (kMonotone) return BoundedGain(p, s, weight);
  if (HasOwnWeight(p, s)) return NodeGain(p, s);
  double const gain = BoundedGain(p, s, weight);
  if (p.reg_alpha == 0.0 || p.max_delta_step != 0.0 || s.hess <= 0.0) return gain;
  return gain - 2.0 * p.reg_alpha * static_cast<double>(weight < 0.0f ? -weight : weight);
}

/// What dividing a node into these adds to the score of a candidate; 0 if a side has no hessian.
template <bool kMonotone>
XGBGPU_HD double DivisionGain(SplitParams const& p, GradientSum left, GradientSum right, LevelNode const& node,
                              int direction) {
  if (left.hess <= 0 || right.hess <= 0) return 0.0;
  LossSum const l = ToLoss(p, left), r = ToLoss(p, right);
  ChildWeights w{node.weight, node.weight};
  if (kMonotone) w = WeightsOfChildren<kMonotone>(p, l, r, node, direction);
  return GainOfWeight<kMonotone>(p, l, w.left) + GainOfWeight<kMonotone>(p, r, w.right) - node.gain;
}

/// The root of a tree. If it has no weight of its own, that is 0.
template <bool kMonotone>
XGBGPU_HD LevelNode LevelRoot(SplitParams const& p, GradientSum total) {
  LossSum const s = ToLoss(p, total);
  LevelNode root{total, 0.0, 0.0f, {}};
  root.weight = WeightOrCarried<kMonotone>(p, s, root);
  root.gain = GainOfWeight<kMonotone>(p, s, root.weight);
  return root;
}

/// The children of a node that is divided into `left` and `right`.
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
