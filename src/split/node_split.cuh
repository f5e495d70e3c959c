/// The work for a child and its best split, for all kernels that find splits.
#ifndef XGBGPU_SPLIT_NODE_SPLIT_CUH_
#define XGBGPU_SPLIT_NODE_SPLIT_CUH_

#include "cuda/grid.h"
#include "split/group_split_cuda.cuh"
#include "split/split_block.cuh"
#include "split/split_cuda.h"
#include "split/split_groups.h"

namespace xgbgpu::cuda {

/// Finds the best split of a node among `n` candidates of different features, and writes it to the node. One warp calls
/// it.
__device__ inline void BestOfNode(SplitCandidate const* candidates, std::uint32_t n, Node* node) {
  std::uint32_t const lane = threadIdx.x % 32;
  unsigned long long best = 0;
  std::uint32_t place = 0;
  for (std::uint32_t g = lane; g < n; g += 32) {
    unsigned long long const key = CandidateKey(__ldcg(&candidates[g].gain), __ldcg(&candidates[g].feature));
    if (key > best) {
      best = key;
      place = g;
    }
  }
  unsigned long long const top = WarpMax(best);
  if (top == 0 ? lane == 0 : best == top) node->split = LoadFresh(candidates + place);
}

/// Returns the features that a child may be split by; nullptr: all.
__device__ inline std::uint32_t const* SetOf(SplitView const& view, std::uint32_t family, bool right) {
  if (view.features.of_nodes == nullptr) return nullptr;
  return view.features.of_nodes + std::uint64_t{2 * family + right} * view.features.apart;
}

/// Returns the work for a child, numbered over all families. `family` is its own.
__device__ inline GroupItem ItemOf(SplitView const& view, std::uint32_t child, Family const& family) {
  auto const sums = [&](std::int32_t slot) { return view.histograms.slot(slot); };
  bool const second = child % 2 != 0;  // false for the root
  GroupItem item;
  item.node = second ? family.sibling() : family.built();
  bool const right = item.node != family.left;
  item.candidates = view.candidates + (std::uint64_t{child / 2 * 2} + (right ? 1 : 0)) * view.group_count;
  item.total = view.tree.nodes[item.node].sum;
  item.own = sums(second ? family.sibling_slot : family.built_slot);
  item.built = second && family.subtract != 0 ? sums(family.built_slot) : nullptr;
  item.allowed = SetOf(view, child / 2, right);
  return item;
}

/// Returns the limits for launches of kernels that find splits. Blocks that start early crowd on the multiprocessors
/// that finish their sums first.
inline DeviceLimits LimitsOfSplits(SplitView const& view, DeviceLimits limits) {
  limits.starts_early = limits.starts_early && view.matrix.rows <= kMostEarlyRows;
  return limits;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_NODE_SPLIT_CUH_
