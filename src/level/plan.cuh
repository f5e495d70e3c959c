/// Bookkeeping between the kernels of a level, done by one block: device code shared by the kernels that end with it.
#ifndef XGBGPU_LEVEL_PLAN_CUH_
#define XGBGPU_LEVEL_PLAN_CUH_

#include <cub/block/block_scan.cuh>

#include "core/grid.h"
#include "level/device_tree.h"

namespace xgbgpu::cuda {

constexpr int kPlanThreads = 256;  ///< of every kernel that plans

using PlanScan = cub::BlockScan<unsigned long long, kPlanThreads>;

/// Exclusive prefix sums over the block of two counts packed in one word; *carry is the sum of all earlier calls.
__device__ inline unsigned long long ScanStep(unsigned long long value, unsigned long long* carry,
                                              typename PlanScan::TempStorage& storage) {
  unsigned long long before, all;
  PlanScan(storage).ExclusiveSum(value, before, all);
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

/// Makes the children of family `f`, whose parent has the number `parent`.
__device__ inline void MakeChildren(DeviceTree const& tree, NodeIndex parent, NodeIndex left) {
  Node& p = tree.nodes[parent];
  SplitCandidate const split = LoadFresh(&p.split);
  p.left = left;
  for (int right = 0; right < 2; ++right) {
    Node child;
    child.parent = parent;
    child.depth = p.depth + 1;
    child.sum = right != 0 ? split.right : split.left;
    tree.nodes[left + right] = child;
  }
}

/// One block chooses the nodes of the last level to split, in ascending order, as GrowQueue does for depth-wise growth:
/// makes their children, families and move jobs. Nodes that stay leaves get a move job too: their positions are final.
__device__ inline void SelectLevel(DeviceTree const& tree) {
  __shared__ typename PlanScan::TempStorage storage;
  LevelState& state = *tree.state;
  TreeSettings const& settings = *tree.settings;
  std::uint32_t const first = __ldcg(&state.level_first), end = __ldcg(&state.nodes);
  std::uint32_t const leaves = __ldcg(&state.leaves), free_slots = __ldcg(&state.free_slots);
  auto const max_leaves = static_cast<std::uint32_t>(settings.max_leaves);
  std::uint32_t const last_rank = max_leaves == 0 ? 0xFFFFFFFFU : max_leaves - min(leaves, max_leaves);
  unsigned long long candidates_and_items = 0, families = 0;
  for (std::uint32_t base = first; base < end; base += kPlanThreads) {
    std::uint32_t const n = base + threadIdx.x;
    bool candidate = false;
    std::uint32_t items = 0;
    if (n < end) {
      Node const& node = tree.nodes[n];
      float const gain = __ldcg(&node.split.gain);
      bool const deep = settings.max_depth != 0 && node.depth >= settings.max_depth;
      candidate = !deep && !(gain <= kLeastGain || gain < settings.min_split_loss);
      items = (node.rows + tree.item_rows - 1) / tree.item_rows;
    }
    unsigned long long const before = ScanStep(Both(candidate ? 1 : 0, items), &candidates_and_items, storage);
    std::uint32_t const rank = High(before);
    bool const selected = candidate && rank < last_rank;
    ScanStep(selected ? 1 : 0, &families, storage);
    if (n < end) {
      std::uint32_t const job = n - first;
      std::uint32_t const staying = job - min(rank, last_rank);  // nodes before this one that stay leaves
      tree.move_jobs[job] = {static_cast<NodeIndex>(n), selected ? static_cast<std::int32_t>(rank) : ~static_cast<std::int32_t>(n), Low(before)};
      if (selected) {
        NodeIndex const left = static_cast<NodeIndex>(end + 2 * rank);
        tree.families[rank] = {static_cast<NodeIndex>(n), left, -1, tree.nodes[n].slot, 1, 0, 0, 0};
        MakeChildren(tree, static_cast<NodeIndex>(n), left);
      } else {
        tree.free_slots[free_slots + staying] = tree.nodes[n].slot;
      }
    }
  }
  __syncthreads();
  auto const made = static_cast<std::uint32_t>(families);
  std::uint32_t const free_now = free_slots + (end - first - made);
  for (std::uint32_t f = threadIdx.x; f < made; f += kPlanThreads) {
    // In the level above the last, families may outnumber the slots that are left: then nobody needs them.
    tree.families[f].built_slot = f < free_now ? tree.free_slots[free_now - 1 - f] : -1;
  }
  if (threadIdx.x == 0) {
    state.level_first = end;
    state.nodes = end + 2 * made;
    state.leaves = leaves + made;
    state.families = made;
    state.move_jobs = end - first;
    state.move_items = Low(candidates_and_items);
    state.free_slots = free_now - min(free_now, made);
  }
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
