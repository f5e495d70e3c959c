/// The plan of a level with rows in lists, made by one block.
#ifndef XGBGPU_GROWTH_PLAN_LISTS_CUH_
#define XGBGPU_GROWTH_PLAN_LISTS_CUH_

#include "growth/plan_level.cuh"

namespace xgbgpu::cuda {

/// The plan reads this of a node of the level. It is empty from level.end on.
struct ListNode {
  int depth;
  std::int32_t slot;
  std::uint32_t rows;
  SplitCandidate split;
};

template <bool kOrdered>
__device__ inline ListNode LoadListNode(PlanView const& plan, Selection<kOrdered> const& level, std::uint32_t n) {
  if (n >= level.end) return {};
  Node const& node = plan.tree.nodes[n];
  return {node.depth, node.slot, node.rows, level.LoadSplit(plan, n, level.FindSplit(plan, n))};
}

/// Does the part of SelectLevel for kThreads nodes. A thread has node n. *candidates_and_items counts both for all
/// nodes so far.
template <bool kMonotone, int kThreads, bool kOrdered>
__device__ inline void PlanListNode(PlanView const& plan, Selection<kOrdered> const& level, std::uint32_t n,
                                    ListNode const& node, unsigned long long* candidates_and_items) {
  using Scan = PlanScanOf<kThreads>;
  __shared__ typename Scan::TempStorage storage;
  bool const in = n < level.end;
  auto const number = static_cast<NodeIndex>(n);
  bool const candidate = in && level.Wants(node.depth, node.split.gain);
  std::uint32_t const items = (node.rows + plan.lists.item_rows - 1) / plan.lists.item_rows;
  unsigned long long const before = ScanStep<Scan>(Both(candidate ? 1 : 0, items), candidates_and_items, storage);
  std::uint32_t const rank = High(before);
  bool const selected = candidate && rank < level.last_rank;
  if (in)
    plan.lists.move_jobs[n - level.first] = {number, selected ? static_cast<std::int32_t>(rank) : ~number, Low(before)};
  if (!selected) return;
  Family const family = level.MakeFamily(plan, number, node.slot, rank, node.split);
  StoreWhole(plan.tree.families + rank, family);
  MakeChildren<kMonotone>(plan, family, node.depth, node.split);
}

template <bool kOrdered>
__device__ inline void EndLists(PlanView const& plan, Selection<kOrdered> const& level,
                                unsigned long long candidates_and_items) {
  if (threadIdx.x != 0) return;
  level.Store(plan.tree.state, min(High(candidates_and_items), level.last_rank));
  plan.tree.state->move_jobs = level.end - level.first;
  plan.tree.state->move_items = Low(candidates_and_items);
}

/// One block makes the children, families and move jobs of the next level. Nodes that stay leaves get a move job too:
/// their positions are final.
template <bool kMonotone>
__device__ inline void SelectLevel(PlanView const& plan, Selection<false> const& level) {
  unsigned long long candidates_and_items = 0;
  for (std::uint32_t base = level.first; base < level.end; base += kPlanThreads) {
    std::uint32_t const n = base + threadIdx.x;
    PlanListNode<kMonotone, kPlanThreads>(plan, level, n, LoadListNode(plan, level, n), &candidates_and_items);
  }
  EndLists(plan, level, candidates_and_items);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_PLAN_LISTS_CUH_
