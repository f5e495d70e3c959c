/// The kernel that finds splits by warps, for many sparse features. A Plan has the members of find_splits_cuda.cuh, and
/// kSharedBytes: the shared memory of its Finish.
#ifndef XGBGPU_SPLIT_WARP_FIND_SPLITS_CUDA_CUH_
#define XGBGPU_SPLIT_WARP_FIND_SPLITS_CUDA_CUH_

#include <algorithm>

#include "core/fixed_point.h"
#include "cuda/block_scan.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "split/node_split.cuh"
#include "split/split_cuda.h"
#include "split/warp_split_cuda.cuh"

namespace xgbgpu::cuda {

constexpr int kWarpSplitThreads = kPlanThreads;  ///< threads of a block: the last block plans
constexpr std::uint32_t kSplitWarps = kWarpSplitThreads / 32;
static_assert(kSplitWarps == kWarpRun);
constexpr int kWarpSplitResident = 2;
constexpr std::size_t kWarpSplitBytes = kSplitWarps * kWarpCellBytes;

/// The shared memory of a block beside the cells of its warps.
struct WarpSplitShared {
  SplitRules rules;
  SplitCandidate found[kSplitWarps];
  unsigned long long key[kSplitWarps];
  GroupItem item;
  bool last;
};

/// Finds the best split of a child in groups [begin, end). Each of the block's warps takes a group at a time.
template <bool kMonotone>
__device__ BestOfWarp LookAtChild(SplitView const& view, std::uint32_t child, std::uint32_t begin, std::uint32_t end,
                                  bool keeps, WarpSplitShared* shared) {
  extern __shared__ __align__(16) std::uint8_t warp_cells[];
  std::uint32_t const warp = threadIdx.x / 32;
  if (threadIdx.x == 0) shared->item = ItemOf(view, child, view.tree.families[child / 2]);
  __syncthreads();
  GroupItem const& item = shared->item;
  bool const small =
      view.gradient->format.narrow && view.all_rows_here && view.tree.nodes[item.node].rows <= kMostNarrowSumRows;
  BestOfWarp best;
#pragma unroll 1
  for (std::uint32_t i = begin + warp; i < end; i += kSplitWarps) {
    WarpGroup const group = view.warp_groups[i];
    std::uint8_t* const room = warp_cells + warp * kWarpCellBytes;
    if (small) {
      LookAtGroup<kMonotone, SmallSum>(view, group, item, keeps, shared->rules, room, &best, &shared->found[warp]);
    } else {
      LookAtGroup<kMonotone, GradientSum>(view, group, item, keeps, shared->rules, room, &best, &shared->found[warp]);
    }
  }
  return best;
}

/// Writes the best split of the block's warps for a child to its place among the child's blocks. The child's last block
/// writes the best of all to the node.
__device__ inline void FinishChild(SplitView const& view, WarpGroupRuns const& runs, std::uint32_t child,
                                   BestOfWarp const& best, WarpSplitShared* shared) {
  GroupItem const& item = shared->item;
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const first = runs.BlockOf(child * runs.groups), last = runs.BlockOf((child + 1) * runs.groups - 1);
  if (lane == 0) shared->key[threadIdx.x / 32] = CandidateKey(best.gain, best.feature);
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned long long const key = lane < kSplitWarps ? shared->key[lane] : 0, top = WarpMax(key);
    std::uint32_t const winner = __ffs(static_cast<int>(__ballot_sync(kAllLanes, key == top))) - 1;
    if (lane == 0) {
      item.candidates[blockIdx.x - first] = top == 0 ? SplitCandidate{} : shared->found[winner];
      __threadfence();
      Family* const family = view.tree.families + child / 2;
      std::uint32_t* const finished = child % 2 != 0 ? &family->finished_sibling : &family->finished_built;
      shared->last = atomicAdd(finished, 1U) == last - first;
      __threadfence();
    }
    __syncwarp();
    if (shared->last) BestOfNode(item.candidates, last - first + 1, view.tree.nodes + item.node);
  }
  __syncthreads();  // the next call reuses the shared memory
}

/// kMonotone: there are monotone constraints. keeps: see LevelBounds.
template <bool kMonotone, typename Plan>
__global__ void __launch_bounds__(kWarpSplitThreads, kWarpSplitResident)
    FindSplitsByWarpsKernel(SplitView view, Plan plan, bool keeps) {
  static_assert(sizeof(WarpSplitShared) + Plan::kSharedBytes <= kWarpSplitStaticBytes);
  __shared__ WarpSplitShared shared;
  WaitForKernelBefore();
  bool const root = view.tree.families[0].sibling_slot < 0;  // the root has no sibling, every other family has one
  std::uint32_t const children = view.tree.state->families * (root ? 1 : 2);
  if (threadIdx.x == 0) {
    shared.rules.params = ParamsOf(*view.params, view.gradient->format);
    shared.rules.filter = FilterOf(shared.rules.params);
  }
  __syncthreads();
  WarpGroupRuns const runs{view.warp_group_count, children, gridDim.x};
  std::uint32_t at = runs.Begin(min(blockIdx.x, runs.blocks));
  std::uint32_t const end = runs.Begin(min(blockIdx.x + 1, runs.blocks));
  while (at < end) {
    std::uint32_t const child = at / runs.groups, first = child * runs.groups, stop = min(end, first + runs.groups);
    BestOfWarp const best = LookAtChild<kMonotone>(view, child, at - first, stop - first, keeps, &shared);
    FinishChild(view, runs, child, best, &shared);
    at = stop;
  }
  if (plan.HasLast() && IsLastBlock(&view.tree.state->finished_blocks, gridDim.x)) {
    plan.template Finish<kMonotone>(view, plan.Begin(view));
  }
}

/// FindSplitsByBlocks for a view that has warp_groups.
template <typename Plan>
void FindSplitsByWarps(SplitView const& view, LevelBounds const& bounds, Plan const& plan, DeviceLimits const& limits,
                       cudaStream_t stream) {
  std::uint64_t const groups = 2 * bounds.families * view.warp_group_count;
  auto* const kernel =
      view.limits.directions != nullptr ? FindSplitsByWarpsKernel<true, Plan> : FindSplitsByWarpsKernel<false, Plan>;
  AllowShared(kernel, kWarpSplitBytes);
  std::size_t const of_block = kWarpSplitBytes + kWarpSplitStaticBytes + kBlockOverhead;
  auto const resident =
      static_cast<int>(std::clamp<std::size_t>(limits.processor_bytes / of_block, 1, kWarpSplitResident));
  LaunchNext("looking for splits", kernel, Blocks(groups, kSplitWarps, limits, resident), kWarpSplitThreads,
             kWarpSplitBytes, LimitsOfSplits(view, limits), stream, view, plan, bounds.keeps);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_WARP_FIND_SPLITS_CUDA_CUH_
