/// The plan of a level on a device: which nodes are split, and their children.
#ifndef XGBGPU_GROWTH_PLAN_LEVEL_CUH_
#define XGBGPU_GROWTH_PLAN_LEVEL_CUH_

#include "cuda/block_scan.cuh"
#include "cuda/grid.h"
#include "growth/plan_cuda.h"
#include "split/built_child_ops.h"
#include "split/constraint_ops.h"
#include "split/params_cuda.cuh"

namespace xgbgpu::cuda {

/// Sets the limits that constraints leave to the children of node `parent`: NodeLimits::AddChildren.
template <bool kMonotone>
__device__ inline void LimitChildren(PlanView const& plan, NodeIndex parent, SplitCandidate const& split,
                                     NodeIndex left) {
  NodeLimitsView const& limits = plan.limits;
  if (kMonotone) {
    SplitParams const params = ParamsOf(plan.settings->split, plan.gradient->format);
    WeightBounds const above = limits.bounds[parent];
    int const direction = limits.directions[split.feature];
    for (int right = 0; right < 2; ++right) {
      limits.bounds[left + right] = BoundsOfChild(params, above, direction, split.left, split.right, right != 0);
    }
  }
  for (std::uint32_t w = 0; w < limits.set_words; ++w) {
    auto const at = [&](NodeIndex n) { return limits.sets + static_cast<std::uint64_t>(n) * limits.set_words + w; };
    std::uint32_t const own = limits.sets_of_features[std::uint64_t{split.feature} * limits.set_words + w];
    *at(left) = *at(left + 1) = parent == 0 ? own : *at(parent) & own;
  }
}

/// Makes the children of the parent of `family`, which is at `depth`. kMonotone: there are monotone constraints.
template <bool kMonotone>
__device__ inline void MakeChildren(PlanView const& plan, Family const& family, int depth,
                                    SplitCandidate const& split) {
  plan.tree.nodes[family.parent].left = family.left;
  for (int right = 0; right < 2; ++right) {
    Node child;
    child.parent = family.parent;
    child.depth = depth + 1;
    child.sum = right != 0 ? split.right : split.left;
    child.slot = (right == 0) == (family.left_is_built != 0) ? family.built_slot : family.sibling_slot;
    StoreWhole(plan.tree.nodes + family.left + right, child);
  }
  LimitChildren<kMonotone>(plan, family.parent, split, family.left);
}

/// Choice among the nodes of the last level, in ascending order, as in GrowQueue for depth-wise growth. kOrdered:
/// choice among the nodes of the order, at most one node a thread. It is made before the splits are known, and does not
/// change until the choice.
template <bool kOrdered>
struct Selection {
  std::uint32_t first, end;  ///< nodes of the level
  std::uint32_t leaves;      ///< leaves of the tree so far; kOrdered: slots that were ever in use
  std::uint32_t last_rank;   ///< candidates from this rank on exceed max_leaves
  std::uint32_t free_slots;  ///< kOrdered: slots that were in use and are not
  int max_depth;             ///< max_depth of the settings
  float min_split_loss;      ///< min_split_loss of the settings
  bool in_order;             ///< kOrdered: true if this thread's node is in the order

  /// Returns the place of the best split of node n. Call it before all work that depends on it: independent accesses
  /// are then under way together.
  __device__ SplitCandidate const* FindSplit(PlanView const& plan, std::uint32_t n) const {
    if (!plan.reduces) return &plan.tree.nodes[n].split;
    // Nodes of a level are the children of its families, in order.
    SplitCandidate const* const candidates = plan.candidates + std::uint64_t{n - first} * plan.group_count;
    float gain[kMostReducedGroups];  // all on their way at once
#pragma unroll
    for (std::uint32_t g = 0; g < kMostReducedGroups; ++g) {
      gain[g] = g < plan.group_count ? __ldcg(&candidates[g].gain) : 0.0f;
    }
    std::uint32_t best = 0;
    float best_gain = gain[0];
#pragma unroll
    for (std::uint32_t g = 1; g < kMostReducedGroups; ++g) {
      if (gain[g] > best_gain) {
        best_gain = gain[g];
        best = g;
      }
    }
    return candidates + best;
  }
  /// Loads the split that FindSplit has found; the node holds it from now on.
  __device__ SplitCandidate LoadSplit(PlanView const& plan, std::uint32_t n, SplitCandidate const* from) const {
    SplitCandidate const split = LoadFresh(from);
    if (from != &plan.tree.nodes[n].split) StoreWhole(&plan.tree.nodes[n].split, split);
    return split;
  }
  /// Returns true if a node may be split.
  __device__ bool IsCandidate(int depth, float gain) const {
    return depth < max_depth && gain > kLeastGain && gain >= min_split_loss;
  }
  /// Returns true if this thread's node is to be split unless a limit of leaves forbids it.
  __device__ bool Wants(int depth, float gain) const { return kOrdered ? in_order : IsCandidate(depth, gain); }
  /// A split needs one slot beside its parent's. Slots are not given back: there is room for all leaves that the tree
  /// may have when its last level is evaluated. With an order, nodes that are not split give their slots back.
  __device__ std::int32_t NewSlot(PlanView const& plan, std::uint32_t rank) const {
    if (kOrdered && rank < free_slots) return plan.order.free_slots[free_slots - 1 - rank];
    return static_cast<std::int32_t>(leaves + rank - free_slots);
  }
  /// Makes the family of the selected node with the given rank.
  __device__ Family MakeFamily(PlanView const& plan, NodeIndex node, std::int32_t parent_slot, std::uint32_t rank,
                               SplitCandidate const& split) const {
    return {node,
            static_cast<NodeIndex>(end + 2 * rank),
            NewSlot(plan, rank),
            parent_slot,
            1,
            static_cast<std::uint8_t>(LeftIsBuilt(split.left, split.right) ? 1 : 0),
            0,
            0,
            0};
  }
  __device__ void Store(LevelState* state, std::uint32_t families) const {
    state->level_first = end;
    state->nodes = end + 2 * families;
    state->leaves = leaves + families - min(families, free_slots);
    if (kOrdered) state->free_slots = free_slots - min(families, free_slots);
    state->families = families;
  }
};

template <bool kOrdered>
__device__ inline Selection<kOrdered> MakeSelection(PlanView const& plan) {
  LevelState const& state = *plan.tree.state;
  TreeSettings const& settings = *plan.settings;
  Selection<kOrdered> level{state.level_first,
                            state.nodes,
                            state.leaves,
                            0xFFFFFFFFU,
                            kOrdered ? state.free_slots : 0,
                            settings.max_depth,
                            settings.min_split_loss,
                            false};
  auto const max_leaves = static_cast<std::uint32_t>(settings.max_leaves);
  if (max_leaves != 0) level.last_rank = max_leaves - min(level.leaves, max_leaves);
  return level;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_PLAN_LEVEL_CUH_
