/// The formulas of symmetric trees: the weights of a level's nodes, and the gains of dividing them.
/// docs/adr/0022-symmetric-trees.md
///
/// A division may give a child too few hessians for a weight of its own. Such a child carries its parent's weight.
#ifndef XGBGPU_SPLIT_SYMMETRIC_OPS_H_
#define XGBGPU_SPLIT_SYMMETRIC_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "split/constraint_ops.h"
#include "split/split_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A node of a level that is to be divided, or one of its outputs. The node has hessians; an output may have none.
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

/// The sum of a node, or of an output of a node.
struct NodeSum {
  GradientSum total;
  LossSum loss;
  bool has_own_weight;  ///< the same for all outputs of a node
};

/// Returns the sum of a node whose weight is a number.
XGBGPU_HD NodeSum SumOfNumber(SplitParams const& p, GradientSum total) {
  LossSum const loss = ToLoss(p, total);
  return {total, loss, loss.hess > 0.0 && loss.hess >= p.min_child_weight};
}

/// Returns the weight of a child: its own, or its parent's.
template <bool kMonotone>
XGBGPU_HD float WeightOrCarried(SplitParams const& p, NodeSum s, LevelNode const& parent) {
  if (!s.has_own_weight) return parent.weight;
  return kMonotone ? BoundedWeight(p, s.loss, parent.bounds) : static_cast<float>(NodeWeight(p, s.loss));
}

/// Returns the weights of the children of a node that is divided by a feature of this direction.
template <bool kMonotone>
XGBGPU_HD ChildWeights WeightsOfChildren(SplitParams const& p, NodeSum left, NodeSum right, LevelNode const& node,
                                         int direction) {
  float const l = WeightOrCarried<kMonotone>(p, left, node), r = WeightOrCarried<kMonotone>(p, right, node);
  bool const breaks = kMonotone && ((direction > 0 && l > r) || (direction < 0 && l < r));
  return breaks ? ChildWeights{node.weight, node.weight} : ChildWeights{l, r};
}

/// Returns twice the reduction of the loss by a node's weight. A carried weight pays the L1 penalty like a weight of
/// its own.
template <bool kMonotone>
XGBGPU_HD double GainOfWeight(SplitParams const& p, NodeSum s, float weight) {
  if (kMonotone) return BoundedGain(p, s.loss, weight);
  if (s.has_own_weight) return NodeGain(p, s.loss);
  double const gain = BoundedGain(p, s.loss, weight);
  if (p.is_of_3_4 || p.reg_alpha == 0.0 || p.max_delta_step != 0.0 || s.loss.hess <= 0.0) return gain;
  return gain - 2.0 * p.reg_alpha * static_cast<double>(weight < 0.0f ? -weight : weight);
}

/// Returns the gain of a division whose sides both have hessians.
template <bool kMonotone>
XGBGPU_HD double GainOfDivision(SplitParams const& p, NodeSum left, NodeSum right, LevelNode const& node,
                                int direction) {
  ChildWeights w{node.weight, node.weight};
  if (kMonotone) w = WeightsOfChildren<kMonotone>(p, left, right, node, direction);
  return GainOfWeight<kMonotone>(p, left, w.left) + GainOfWeight<kMonotone>(p, right, w.right) - node.gain;
}

/// Returns the gain of a division, a term of the candidate's score; 0 if a side has no hessian.
template <bool kMonotone>
XGBGPU_HD double DivisionGain(SplitParams const& p, GradientSum left, GradientSum right, LevelNode const& node,
                              int direction) {
  if (left.hess <= 0 || right.hess <= 0) return 0.0;
  return GainOfDivision<kMonotone>(p, SumOfNumber(p, left), SumOfNumber(p, right), node, direction);
}

/// Returns the root of a tree. Without a weight of its own it has the weight 0.
template <bool kMonotone>
XGBGPU_HD LevelNode LevelRoot(SplitParams const& p, NodeSum s) {
  LevelNode root{s.total, 0.0, 0.0f, {}};
  root.weight = WeightOrCarried<kMonotone>(p, s, root);
  root.gain = GainOfWeight<kMonotone>(p, s, root.weight);
  return root;
}

/// The two children of a node.
struct LevelChildren {
  LevelNode left, right;
};

/// Returns the children of a node that is divided into `left` and `right`.
template <bool kMonotone>
XGBGPU_HD LevelChildren MakeLevelChildren(SplitParams const& p, NodeSum left, NodeSum right, LevelNode const& node,
                                          int direction) {
  ChildWeights const w = WeightsOfChildren<kMonotone>(p, left, right, node, direction);
  LevelChildren children{{left.total, GainOfWeight<kMonotone>(p, left, w.left), w.left, node.bounds},
                         {right.total, GainOfWeight<kMonotone>(p, right, w.right), w.right, node.bounds}};
  if (kMonotone && direction != 0) {
    children.left.bounds = BoundsBelow(node.bounds, direction, w.left, w.right, false);
    children.right.bounds = BoundsBelow(node.bounds, direction, w.left, w.right, true);
  }
  return children;
}

/// Parameters of a tree. A node has a number for each output.
struct LevelParams {
  SplitParams const* of_outputs;  ///< [outputs] with the units of each
  std::uint32_t outputs;
};

/// Which sides of a division of a node have weights of their own.
struct LevelSides {
  bool left_has_own_weight, right_has_own_weight;
};

/// Returns the sum over the outputs of the hessians of sums(k).
template <typename Sums>
XGBGPU_HD double HessiansOf(LevelParams const& p, Sums&& sums) {
  double hessians = 0.0;
  for (std::uint32_t k = 0; k < p.outputs; ++k) hessians += ToLoss(p.of_outputs[k], sums(k)).hess;
  return hessians;
}

/// Returns true if a node has weights of its own: if the mean of its hessians over the outputs reaches
/// min_child_weight. `hessians`: HessiansOf.
XGBGPU_HD bool HasOwnWeights(LevelParams const& p, double hessians) {
  return hessians > 0.0 && hessians / static_cast<double>(p.outputs) >= p.of_outputs->min_child_weight;
}

/// Returns the sides of a division into left(k) and right(k), the sums of output k.
template <typename Left, typename Right>
XGBGPU_HD LevelSides SidesOf(LevelParams const& p, Left&& left, Right&& right) {
  return {HasOwnWeights(p, HessiansOf(p, left)), HasOwnWeights(p, HessiansOf(p, right))};
}

/// Returns the sum of output `k` of a node.
XGBGPU_HD NodeSum SumOfOutput(LevelParams const& p, std::uint32_t k, GradientSum sum, bool has_own_weights) {
  return {sum, ToLoss(p.of_outputs[k], sum), has_own_weights};
}

/// The gain of a division of a node. Outputs are added in their order. One pass over the outputs suffices for sides
/// with weights of their own, and nearly all sides have them.
template <bool kMonotone>
struct DivisionOfOutputs {
  double gain{0.0};
  double hessians_left{0.0}, hessians_right{0.0};

  /// Adds output `k` with the sums `left` and `right`. In the first pass both sides have weights of their own.
  XGBGPU_HD void Add(LevelParams const& p, std::uint32_t k, GradientSum left, GradientSum right, LevelSides sides,
                     LevelNode const& node, int direction) {
    NodeSum const l = SumOfOutput(p, k, left, sides.left_has_own_weight);
    NodeSum const r = SumOfOutput(p, k, right, sides.right_has_own_weight);
    hessians_left += l.loss.hess;
    hessians_right += r.loss.hess;
    gain += GainOfDivision<kMonotone>(p.of_outputs[k], l, r, node, direction);
  }
  /// Ends the first pass. Returns true if the gain is known: 0 if a side has no hessian. Otherwise the gain becomes 0,
  /// and all outputs are to be added once more, with the new `sides`.
  XGBGPU_HD bool IsKnown(LevelParams const& p, LevelSides* sides) {
    if (hessians_left <= 0.0 || hessians_right <= 0.0) {
      gain = 0.0;
      return true;
    }
    *sides = {HasOwnWeights(p, hessians_left), HasOwnWeights(p, hessians_right)};
    if (sides->left_has_own_weight && sides->right_has_own_weight) return true;
    gain = 0.0;
    return false;
  }
};

/// Returns the gain of a division into left(k) and right(k), the sums of output k. Adds the outputs in their order.
/// Returns 0 if a side has no hessian. `node`: [outputs].
template <bool kMonotone, typename Left, typename Right>
XGBGPU_HD double DivisionGainOfOutputs(LevelParams const& p, Left&& left, Right&& right, LevelNode const* node,
                                       int direction) {
  DivisionOfOutputs<kMonotone> division;
  for (std::uint32_t k = 0; k < p.outputs; ++k) {
    division.Add(p, k, left(k), right(k), {true, true}, node[k], direction);
  }
  LevelSides sides{};
  if (division.IsKnown(p, &sides)) return division.gain;
  for (std::uint32_t k = 0; k < p.outputs; ++k) division.Add(p, k, left(k), right(k), sides, node[k], direction);
  return division.gain;
}

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SYMMETRIC_OPS_H_
