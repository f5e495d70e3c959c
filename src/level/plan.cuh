/// Bookkeeping between the kernels of a level, done by one block: device code shared by the kernels that end with it.
#ifndef XGBGPU_LEVEL_PLAN_CUH_
#define XGBGPU_LEVEL_PLAN_CUH_

#include <cub/block/block_scan.cuh>

#include "core/grid.h"
#include "level/device_tree.h"
#include "split/constraint_ops.h"

namespace xgbgpu::cuda {

constexpr int kPlanThreads = 256;  ///< of every kernel that plans, but for the one that keeps an order

/// By warps: a block that plans is all that runs, so what counts is the longest chain of its threads.
template <int kThreads>
using PlanScanOf = cub::BlockScan<unsigned long long, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
using PlanScan = PlanScanOf<kPlanThreads>;

/// Exclusive prefix sums over the block of two counts packed in one word; *carry is the sum of all earlier calls.
template <typename Scan = PlanScan>
__device__ inline unsigned long long ScanStep(unsigned long long value, unsigned long long* carry,
                                              typename Scan::TempStorage& storage) {
  unsigned long long before, all;
  Scan(storage).ExclusiveSum(value, before, all);
  __syncthreads();  // the storage is used again
  before += *carry;
  *carry += all;
  return before;
}

__device__ inline std::uint32_t Low(unsigned long long word) { return static_cast<std::uint32_t>(word); }
__device__ inline std::uint32_t High(unsigned long long word) { return static_cast<std::uint32_t>(word >> 32); }
__device__ inline unsigned long long Both(std::uint32_t high, std::uint32_t low) {
  return (static_cast<unsigned long long>(high) << 32) | low;
}

/// One thread makes the root, of `rows` rows: a family of one, which is summed in slot 0. Its sum.
__device__ inline GradientSum MakeRoot(DeviceTree const& tree, std::uint32_t rows) {
  LevelState& state = *tree.state;
  Node root;
  root.sum = {__ldcg(&state.sum.grad), __ldcg(&state.sum.hess)};
  root.rows = rows;
  root.slot = 0;
  tree.nodes[0] = root;
  tree.families[0] = {kNoNode, 0, 0, -1, 1, 1, 0, 0, 0};
  state.rows = rows;
  state.nodes = 1;
  state.level_first = 0;
  state.leaves = 1;
  state.families = 1;
  state.sum_jobs = 1;
  return root.sum;
}

/// Parameters of splits in the units of this tree.
__device__ inline SplitParams ParamsOf(DeviceTree const& tree) {
  SplitParams params = tree.settings->split;
  params.grad_unit = ScaleByPowerOfTwo(1.0, -tree.gradient->format.grad_shift);
  params.hess_unit = ScaleByPowerOfTwo(1.0, -tree.gradient->format.hess_shift);
  return params;
}

/// Tells the children of node `parent` what constraints leave to them: NodeLimits::AddChildren.
template <bool kMonotone>
__device__ inline void LimitChildren(DeviceTree const& tree, NodeIndex parent, SplitCandidate const& split,
                                     NodeIndex left) {
  NodeLimitsView const& limits = tree.limits;
  if (kMonotone) {
    SplitParams const params = ParamsOf(tree);
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

/// Makes the children of node `parent`, which is at `depth`. kMonotone: there are monotone constraints.
template <bool kMonotone>
__device__ inline void MakeChildren(DeviceTree const& tree, NodeIndex parent, int depth, SplitCandidate const& split,
                                    NodeIndex left, int left_slot = -1, int right_slot = -1) {
  tree.nodes[parent].left = left;
  for (int right = 0; right < 2; ++right) {
    Node child;
    child.parent = parent;
    child.depth = depth + 1;
    child.sum = right != 0 ? split.right : split.left;
    child.slot = right != 0 ? right_slot : left_slot;
    StoreWhole(tree.nodes + left + right, child);
  }
  LimitChildren<kMonotone>(tree, parent, split, left);
}

/// With few groups of features the block that chooses the next level reduces over them itself; else, where the host
/// chooses, and where sets of categories are to be written, the last block of each node does.
XGBGPU_HD bool SelectionReduces(DeviceTree const& tree, NextLevel next) {
  return next != NextLevel::kByHost && tree.group_count <= kMostReducedGroups && tree.categories.sets == nullptr;
}

/// Choice among the nodes of the last level, in ascending order, as GrowQueue makes it for depth-wise growth; kOrdered:
/// those that are in the order, and each thread has one node at most. Made before their splits are known: nothing of it
/// changes until the choice.
template <bool kOrdered>
struct Selection {
  std::uint32_t first, end;  ///< nodes of the level
  std::uint32_t leaves;      ///< of the tree so far; kOrdered: slots that were ever in use
  std::uint32_t last_rank;   ///< candidates from this rank on exceed max_leaves
  std::uint32_t free_slots;  ///< kOrdered
  int max_depth;             ///< of the settings
  float min_split_loss;      ///< the same
  bool in_order;             ///< kOrdered: this thread's node is

  /// Where the best split of node n is. Asked before anything else is that depends on it: accesses that do not depend
  /// on each other are on their way together.
  __device__ SplitCandidate const* FindSplit(DeviceTree const& tree, std::uint32_t n) const {
    if (!SelectionReduces(tree, NextLevel::kLists)) return &tree.nodes[n].split;
    // Nodes of a level are the children of its families, in order.
    SplitCandidate const* const candidates = tree.candidates + std::uint64_t{n - first} * tree.group_count;
    float gain[kMostReducedGroups];  // all on their way at once
#pragma unroll
    for (std::uint32_t g = 0; g < kMostReducedGroups; ++g) {
      gain[g] = g < tree.group_count ? __ldcg(&candidates[g].gain) : 0.0f;
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
  /// That split, which its node holds from now on.
  __device__ SplitCandidate LoadSplit(DeviceTree const& tree, std::uint32_t n, SplitCandidate const* from) const {
    SplitCandidate const split = LoadFresh(from);
    if (from != &tree.nodes[n].split) StoreWhole(&tree.nodes[n].split, split);
    return split;
  }
  /// May a node be split?
  __device__ bool IsCandidate(int depth, float gain) const {
    return depth < max_depth && gain > kLeastGain && gain >= min_split_loss;
  }
  /// Shall this thread's node be split, if no limit of leaves forbids it?
  __device__ bool Wants(int depth, float gain) const { return kOrdered ? in_order : IsCandidate(depth, gain); }
  /// Every split needs one slot more than its parent has. They are not given back: there is room for all leaves that
  /// the tree may have when its last level is evaluated; with an order, nodes that are not split give theirs back.
  __device__ std::int32_t NewSlot(DeviceTree const& tree, std::uint32_t rank) const {
    if (kOrdered && rank < free_slots) return tree.order.free_slots[free_slots - 1 - rank];
    return static_cast<std::int32_t>(leaves + rank - free_slots);
  }
  /// Family of the node with the given rank among those selected.
  __device__ Family MakeFamily(DeviceTree const& tree, NodeIndex node, std::int32_t parent_slot, std::uint32_t rank,
                               bool left_is_built) const {
    return {node,
            static_cast<NodeIndex>(end + 2 * rank),
            NewSlot(tree, rank),
            parent_slot,
            1,
            static_cast<std::uint8_t>(left_is_built ? 1 : 0),
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
__device__ inline Selection<kOrdered> MakeSelection(DeviceTree const& tree) {
  LevelState const& state = *tree.state;
  TreeSettings const& settings = *tree.settings;
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

/// What a node of the level is planned by; empty from level.end on.
struct ListNode {
  int depth;
  std::int32_t slot;
  std::uint32_t rows;
  SplitCandidate split;
};

template <bool kOrdered>
__device__ inline ListNode LoadListNode(DeviceTree const& tree, Selection<kOrdered> const& level, std::uint32_t n) {
  if (n >= level.end) return {};
  Node const& node = tree.nodes[n];
  return {node.depth, node.slot, node.rows, level.LoadSplit(tree, n, level.FindSplit(tree, n))};
}

/// The part of SelectLevel for kThreads nodes, of which a thread has node n. *candidates_and_items: of all so far.
template <bool kMonotone, int kThreads, bool kOrdered>
__device__ inline void PlanListNode(DeviceTree const& tree, Selection<kOrdered> const& level, std::uint32_t n,
                                    ListNode const& node, unsigned long long* candidates_and_items) {
  using Scan = PlanScanOf<kThreads>;
  __shared__ typename Scan::TempStorage storage;
  bool const in = n < level.end;
  auto const number = static_cast<NodeIndex>(n);
  bool const candidate = in && level.Wants(node.depth, node.split.gain);
  std::uint32_t const items = (node.rows + tree.item_rows - 1) / tree.item_rows;
  unsigned long long const before = ScanStep<Scan>(Both(candidate ? 1 : 0, items), candidates_and_items, storage);
  std::uint32_t const rank = High(before);
  bool const selected = candidate && rank < level.last_rank;
  if (in) tree.move_jobs[n - level.first] = {number, selected ? static_cast<std::int32_t>(rank) : ~number, Low(before)};
  if (!selected) return;
  Family const family = level.MakeFamily(tree, number, node.slot, rank, true);
  StoreWhole(tree.families + rank, family);
  MakeChildren<kMonotone>(tree, number, node.depth, node.split, family.left);
}

template <bool kOrdered>
__device__ inline void EndLists(DeviceTree const& tree, Selection<kOrdered> const& level,
                                unsigned long long candidates_and_items) {
  if (threadIdx.x != 0) return;
  level.Store(tree.state, min(High(candidates_and_items), level.last_rank));
  tree.state->move_jobs = level.end - level.first;
  tree.state->move_items = Low(candidates_and_items);
}

/// One block makes the children, families and move jobs of the next level. Nodes that stay leaves get a move job too:
/// their positions are final.
template <bool kMonotone>
__device__ inline void SelectLevel(DeviceTree const& tree, Selection<false> const& level) {
  unsigned long long candidates_and_items = 0;
  for (std::uint32_t base = level.first; base < level.end; base += kPlanThreads) {
    std::uint32_t const n = base + threadIdx.x;
    PlanListNode<kMonotone, kPlanThreads>(tree, level, n, LoadListNode(tree, level, n), &candidates_and_items);
  }
  EndLists(tree, level, candidates_and_items);
}

/// One block, after the rows were divided: sizes and places of the children, who is built, and the sum jobs.
__device__ inline void PlanSums(DeviceTree const& tree) {
  __shared__ typename PlanScan::TempStorage storage;
  LevelState& state = *tree.state;
  unsigned long long jobs_and_units = 0;
  std::uint32_t const families = state.families;
  for (std::uint32_t base = 0; base < families; base += kPlanThreads) {
    std::uint32_t const f = base + threadIdx.x;
    std::uint32_t jobs = 0, built_units = 0, sibling_units = 0;
    if (f < families) {
      Family& family = tree.families[f];
      Node const& parent = tree.nodes[family.parent];
      unsigned long long const moved = __ldcg(&family.moved);
      std::uint32_t const rows[2] = {Low(moved), High(moved)};
      bool const left_is_built = rows[0] <= rows[1];
      for (int right = 0; right < 2; ++right) {
        Node& child = tree.nodes[family.left + right];
        child.first_row = parent.first_row + (right != 0 ? rows[0] : 0);
        child.rows = rows[right];
        child.list = parent.list == RowList::kFirst ? RowList::kSecond : RowList::kFirst;
        child.slot = (right == 0) == left_is_built ? family.built_slot : family.sibling_slot;
      }
      family.left_is_built = left_is_built ? 1 : 0;
      jobs = family.subtract != 0 ? 1 : 2;
      built_units = (rows[left_is_built ? 0 : 1] + tree.unit_rows - 1) / tree.unit_rows;
      sibling_units = family.subtract != 0 ? 0 : (rows[left_is_built ? 1 : 0] + tree.unit_rows - 1) / tree.unit_rows;
    }
    unsigned long long const before = ScanStep(Both(jobs, built_units + sibling_units), &jobs_and_units, storage);
    if (f < families) {
      Family const& family = tree.families[f];
      SumJob* const job = tree.sum_jobs + High(before);
      job[0] = {family.built(), family.built_slot, Low(before)};
      if (jobs == 2) job[1] = {family.sibling(), family.sibling_slot, Low(before) + built_units};
    }
  }
  if (threadIdx.x == 0) {
    state.sum_jobs = High(jobs_and_units);
    state.sum_units = Low(jobs_and_units);
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_LEVEL_PLAN_CUH_
