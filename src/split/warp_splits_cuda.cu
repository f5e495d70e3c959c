#include <algorithm>

#include "core/launch.h"
#include "histogram/histogram_cuda.cuh"
#include "histogram/histogram_policy.h"
#include "level/plan.cuh"
#include "split/node_split.cuh"
#include "split/warp_split_cuda.cuh"
#include "split/warp_splits_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;  // its last block plans
constexpr std::uint32_t kWarps = kThreads / 32;
static_assert(kWarps == kWarpRun);
constexpr int kResident = 2;
constexpr std::size_t kSharedBytes = kWarps * kWarpCellBytes;
constexpr std::size_t kStaticBytes = 8 << 10;  ///< at most, beside the cells

/// Beside the cells of its warps.
struct BlockShared {
  SplitRules rules;
  SplitCandidate found[kWarps];
  unsigned long long key[kWarps];
  GroupItem item;
  bool last;
};
static_assert(sizeof(BlockShared) + sizeof(PlanScan::TempStorage) + sizeof(Selection<false>) <= kStaticBytes);

/// What a warp finds in groups [begin, end) of a child, of which the block's warps look at one each.
template <bool kMonotone>
__device__ BestOfWarp LookAtChild(DeviceTree const& tree, std::uint32_t child, std::uint32_t begin, std::uint32_t end,
                                  bool keeps, BlockShared* shared) {
  extern __shared__ __align__(16) std::uint8_t warp_cells[];
  std::uint32_t const warp = threadIdx.x / 32;
  if (threadIdx.x == 0) shared->item = ItemOf(tree, child, tree.families[child / 2]);
  __syncthreads();
  GroupItem const& item = shared->item;
  bool const small = tree.gradient->format.narrow && tree.nodes[item.node].rows <= NarrowSums::kMaxRows;
  BestOfWarp best;
#pragma unroll 1
  for (std::uint32_t i = begin + warp; i < end; i += kWarps) {
    WarpGroup const group = tree.warp_groups[i];
    std::uint8_t* const room = warp_cells + warp * kWarpCellBytes;
    if (small) {
      LookAtGroup<kMonotone, SmallSum>(tree, group, item, keeps, shared->rules, room, &best, &shared->found[warp]);
    } else {
      LookAtGroup<kMonotone, GradientSum>(tree, group, item, keeps, shared->rules, room, &best, &shared->found[warp]);
    }
  }
  return best;
}

/// The best of what the block's warps have found for a child goes to its place among those of the blocks that looked at
/// the child, and, if this was the last of them, the best of these to the node.
__device__ void FinishChild(DeviceTree const& tree, WarpGroupRuns const& runs, std::uint32_t child,
                            BestOfWarp const& best, BlockShared* shared) {
  GroupItem const& item = shared->item;
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const first = runs.BlockOf(child * runs.groups), last = runs.BlockOf((child + 1) * runs.groups - 1);
  if (lane == 0) shared->key[threadIdx.x / 32] = CandidateKey(best.gain, best.feature);
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned long long const key = lane < kWarps ? shared->key[lane] : 0, top = WarpMax(key);
    std::uint32_t const winner = __ffs(static_cast<int>(__ballot_sync(kAllLanes, key == top))) - 1;
    if (lane == 0) {
      item.candidates[blockIdx.x - first] = top == 0 ? SplitCandidate{} : shared->found[winner];
      __threadfence();
      Family* const family = tree.families + child / 2;
      std::uint32_t* const finished = child % 2 != 0 ? &family->finished_sibling : &family->finished_built;
      shared->last = atomicAdd(finished, 1U) == last - first;
      __threadfence();
    }
    __syncwarp();
    if (shared->last) BestOfNode(item.candidates, last - first + 1, tree.nodes + item.node);
  }
  __syncthreads();  // what is shared is used again
}

/// kMonotone: there are monotone constraints. keeps: see LevelBounds.
template <bool kMonotone>
__global__ void __launch_bounds__(kThreads, kResident)
    FindSplitsByWarpsKernel(DeviceTree tree, NextLevel next, bool keeps) {
  __shared__ BlockShared shared;
  WaitForKernelBefore();
  bool const root = tree.families[0].sibling_slot < 0;  // has no sibling; every other family has one
  std::uint32_t const children = tree.state->families * (root ? 1 : 2);
  if (threadIdx.x == 0) {
    shared.rules.params = ParamsOf(tree);
    shared.rules.filter = FilterOf(shared.rules.params);
  }
  __syncthreads();
  WarpGroupRuns const runs{tree.warp_group_count, children, gridDim.x};
  std::uint32_t at = runs.Begin(min(blockIdx.x, runs.blocks));
  std::uint32_t const end = runs.Begin(min(blockIdx.x + 1, runs.blocks));
  while (at < end) {
    std::uint32_t const child = at / runs.groups, first = child * runs.groups, stop = min(end, first + runs.groups);
    BestOfWarp const best = LookAtChild<kMonotone>(tree, child, at - first, stop - first, keeps, &shared);
    FinishChild(tree, runs, child, best, &shared);
    at = stop;
  }
  if (next == NextLevel::kByHost || tree.order.nodes != nullptr) return;
  if (IsLastBlock(&tree.state->finished_blocks, gridDim.x)) SelectLevel<kMonotone>(tree, MakeSelection<false>(tree));
}

}  // namespace

bool WarpSplitsFit(DeviceLimits const& limits) { return kSharedBytes + kStaticBytes <= limits.block_bytes; }

void FindSplitsByWarps(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, DeviceLimits const& limits,
                       cudaStream_t stream) {
  std::uint64_t const groups = 2 * bounds.families * tree.warp_group_count;
  auto* const kernel =
      tree.limits.directions != nullptr ? FindSplitsByWarpsKernel<true> : FindSplitsByWarpsKernel<false>;
  AllowShared(kernel, kSharedBytes);
  std::size_t const of_block = kSharedBytes + kStaticBytes + DeviceHistogramPolicy{}.block_overhead;
  auto const resident = static_cast<int>(std::clamp<std::size_t>(limits.processor_bytes / of_block, 1, kResident));
  LaunchNext("looking for splits", kernel, Blocks(groups, kWarps, limits, resident), kThreads, kSharedBytes,
             LimitsOfSplits(tree, limits), stream, tree, next, bounds.keeps);
}

}  // namespace xgbgpu::cuda
