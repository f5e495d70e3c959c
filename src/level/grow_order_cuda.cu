#include "core/grid.h"
#include "core/launch.h"
#include "level/device_tree.h"
#include "level/level_policy.h"
#include "level/plan_paths.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr std::uint32_t kMostLeaves = LevelPolicy{}.most_ordered_leaves;
static_assert(kMostLeaves <= kMostOrdered);

/// The order before this level, and the level's nodes: TreeShape says why these are not more.
struct OrderShared {
  OrderedNode old[kMostLeaves];
  std::uint32_t places[kMostLeaves];  ///< in the new order, of the nodes of the old one
  OrderKey keys[kMostLeaves];         ///< of the candidates, in any order
  std::uint32_t candidates;           ///< of the level, not behind the end of the order
  std::uint32_t key_of[kMostLeaves];  ///< of each node of the level: which key is its own; kNoPlace: none
  std::uint32_t freed;                ///< slots
};

/// Inserts the nodes of the level into the order, and drops what is behind its end. One block.
__device__ void OrderLevel(DeviceTree const& tree, OrderShared* shared) {
  LevelState& state = *tree.state;
  GrowOrderView const& order = tree.order;
  auto const level = MakeSelection<false>(tree);
  std::uint32_t const before = state.ordered, nodes = level.end - level.first, free_slots = state.free_slots;
  if (threadIdx.x == 0) shared->candidates = shared->freed = 0;
  for (std::uint32_t i = threadIdx.x; i < before; i += kThreads) shared->old[i] = order.nodes[i];
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < nodes; i += kThreads) {
    std::uint32_t const n = level.first + i;
    float const gain = level.LoadSplit(tree, n).gain;
    shared->key_of[i] = kNoPlace;
    if (!level.IsCandidate(tree, tree.nodes[n].depth, gain)) continue;
    std::uint32_t const parent = n == 0 ? 0 : order.places[tree.nodes[n].parent];
    std::uint32_t const gap = GapOf(shared->old, before, gain, parent);
    if (gap >= order.most) continue;
    std::uint32_t const at = shared->key_of[i] = atomicAdd(&shared->candidates, 1U);
    shared->keys[at] = KeyOfNew(gap, gain, parent, i % 2 != 0);  // after the root a level is pairs of siblings
  }
  __syncthreads();
  std::uint32_t const candidates = shared->candidates;
  for (std::uint32_t i = threadIdx.x; i < before; i += kThreads) {
    shared->places[i] = PlaceOf(KeyOfOld(i), shared->keys, candidates);
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < before; i += kThreads) {
    if (shared->places[i] >= order.most) continue;
    order.nodes[shared->places[i]] = {shared->old[i].gain, shared->places[shared->old[i].parent]};
  }
  for (std::uint32_t i = threadIdx.x; i < nodes; i += kThreads) {
    std::uint32_t const n = level.first + i;
    OrderKey const key = shared->key_of[i] == kNoPlace ? kNoOrderKey : shared->keys[shared->key_of[i]];
    std::uint32_t const place = PlaceOf(key, shared->keys, candidates);
    if (place < order.most) {
      order.nodes[place] = {tree.nodes[n].split.gain, before == 0 ? 0 : shared->places[ParentOf(key)]};
      order.places[n] = place;
    } else {
      order.places[n] = kNoPlace;
      order.free_slots[free_slots + atomicAdd(&shared->freed, 1U)] = tree.nodes[n].slot;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    state.ordered = min(before + candidates, order.most);
    state.free_slots = free_slots + shared->freed;
  }
  __syncthreads();
}

template <bool kMonotone>
__global__ void __launch_bounds__(kThreads) SelectOrderedKernel(DeviceTree tree, NextLevel next, PathStep step) {
  __shared__ OrderShared shared;
  WaitForKernelBefore();
  OrderLevel(tree, &shared);
  auto const level = MakeSelection<true>(tree);
  if (next == NextLevel::kLists) {
    SelectLevel<kMonotone>(tree, level);
  } else {
    SelectPaths<kMonotone>(tree, level, step);
  }
}

}  // namespace

void SelectOrdered(DeviceTree const& tree, NextLevel next, PathStep step, DeviceLimits const& limits,
                   cudaStream_t stream) {
  auto* const kernel = tree.limits.directions != nullptr ? SelectOrderedKernel<true> : SelectOrderedKernel<false>;
  LaunchNext("choosing the next level", kernel, 1, kThreads, 0, limits, stream, tree, next, step);
}

}  // namespace xgbgpu::cuda
