#include "core/grid.h"
#include "core/launch.h"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"
#include "split/category_split_cuda.cuh"
#include "split/group_split_cuda.cuh"
#include "split/node_split.cuh"
#include "split/warp_splits_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kSplitThreads;
static_assert(kThreads == kPlanThreads);  // its last block plans

/// Where a block is among its items; an item is a group of features of one child, then come those of the next child.
struct ItemPlace {
  std::uint32_t child, group;
  std::uint32_t children_apart, groups_apart;  ///< of two items that follow each other in a block
  std::uint32_t left;                          ///< items of the block from here on

  __device__ void Next(std::uint32_t groups) {
    --left;
    child += children_apart;
    group += groups_apart;
    if (group < groups) return;
    group -= groups;
    ++child;
  }
};

/// The first item of a block whose items are as far apart as there are blocks, so that it keeps its group if it can.
__device__ inline ItemPlace FirstOfAll(std::uint32_t groups) {
  std::uint32_t const child = blockIdx.x / groups, apart = gridDim.x / groups;
  return {child, blockIdx.x - child * groups, apart, gridDim.x - apart * groups, 0};
}
/// The first of a run of items, of few children.
__device__ inline ItemPlace FirstOfRun(std::uint32_t groups, std::uint32_t children) {
  std::uint64_t const items = std::uint64_t{children} * groups;
  auto const begin = static_cast<std::uint32_t>(items * blockIdx.x / gridDim.x);
  auto const end = static_cast<std::uint32_t>(items * (blockIdx.x + 1) / gridDim.x);
  return {begin / groups, begin % groups, 0, 1, end - begin};
}

/// The block was the last of those that looked at the groups of a node: writes the node's best split.
template <bool kCategories>
__device__ void FinishNode(DeviceTree const& tree, GroupItem const& item, SplitShared const& shared,
                           CategoryShared* room) {
  if (threadIdx.x < 32) {
    __threadfence();
    BestOfNode(item.candidates, tree.group_count, tree.nodes + item.node);
  }
  if constexpr (kCategories) {
    __syncthreads();
    WriteNodeSet(tree, shared.params, item.node, item.own, room);
  }
}

/// Counts what the block has looked at for the child, whose best split its last block writes.
template <bool kCategories>
__device__ void EndRunOfChild(DeviceTree const& tree, std::uint32_t child, std::uint32_t groups_done,
                              GroupItem const& item, SplitShared const& shared, CategoryShared* room) {
  __shared__ bool last_group;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    Family* const counted = tree.families + child / 2;
    std::uint32_t* const finished = child % 2 != 0 ? &counted->finished_sibling : &counted->finished_built;
    last_group = atomicAdd(finished, groups_done) + groups_done == tree.group_count;
  }
  __syncthreads();
  if (last_group) FinishNode<kCategories>(tree, item, shared, room);
  __syncthreads();  // last_group is used again
}

/// kMonotone: there are monotone constraints. kCategories: some features are categorical. keeps: see LevelBounds.
template <bool kMonotone, bool kCategories>
__global__ void __launch_bounds__(kThreads, kSplitResident)
    FindSplitsKernel(DeviceTree tree, NextLevel next, PathStep step, bool keeps) {
  __shared__ SplitShared shared;
  __shared__ StagedBins staged;  // or room for categories, for which no bins are asked
  static_assert(sizeof(CategoryShared) <= sizeof(StagedBins) && alignof(CategoryShared) <= alignof(StagedBins));
  auto* const room = reinterpret_cast<CategoryShared*>(&staged);
  __shared__ Selection<false> level;  // for the last block
  std::uint32_t const groups = tree.group_count;
  auto const stride = static_cast<std::uint32_t>(tree.matrix.cell_stride());
  // Where each node has its last block, the fewer blocks a node has the better.
  bool const in_runs = !SelectionReduces(tree, next);
  ItemPlace place = FirstOfAll(groups);
  SplitGroup group = tree.groups[place.group];  // what no kernel of the tree writes can be read early
  WaitForKernelBefore();
  // All of this on its way together. There is a family for the first item of every block, even if it is not in use.
  Family family = tree.families[place.child / 2];
  bool const root = tree.families[0].sibling_slot < 0;  // has no sibling; every other family has one
  std::uint32_t const children = tree.state->families * (root ? 1 : 2);
  if (threadIdx.x == 0) {
    level = MakeSelection<false>(tree);
    shared.params = ParamsOf(tree);
    shared.filter = FilterOf(shared.params);
  }
  if (in_runs) {
    place = FirstOfRun(groups, children);
    if (place.left != 0) {
      family = tree.families[place.child / 2];
      group = tree.groups[place.group];
    }
  } else {
    std::uint32_t const items = children * groups;
    place.left = (items + gridDim.x - 1 - min(blockIdx.x, items)) / gridDim.x;
  }
  BinSegment segment = SegmentOf(tree, group);
  GroupItem item{};
  if (place.left != 0) {
    item = ItemOf(tree, place.child, family);
    StageBins(segment, stride, item, &staged);
  }
  std::uint32_t groups_done = 0;  // of the child, in a run
  float least = 0.0f;             // bound that a better split of the child must have
  if (kCategories) __syncthreads();
  while (place.left != 0) {
    ItemPlace ahead = place;
    ahead.Next(groups);
    bool const is_more = ahead.left != 0;
    bool const same_group = ahead.group == place.group, same_child = ahead.child == place.child;
    GroupItem next_item = item;
    SplitGroup next_group = group;
    BinSegment next_segment = segment;
    if (is_more && !same_child) family = tree.families[ahead.child / 2];
    if (is_more && !same_group) next_group = tree.groups[ahead.group];
    auto const ask_ahead = [&] {
      if (!is_more) return;
      if (!same_child) next_item = ItemOf(tree, ahead.child, family);
      if (!same_group) next_segment = SegmentOf(tree, next_group);
      StageBins(next_segment, stride, next_item, &staged);
    };
    if (kCategories && group.categorical) {
      FeatureIndex const f = group.first;
      BestOfCategories<kMonotone>(tree, shared.params, f, item.node, IsIn(tree.features.of_tree, f),
                                  IsIn(item.allowed, f) && MayMeetAt(tree, item.node, f), item.own, item.built, &shared,
                                  room, item.candidates + place.group);
    } else {
      BestOfGroup<kMonotone>(tree, segment, item, keeps, staged, &shared, &least, item.candidates + place.group, [&] {
        if (!kCategories) ask_ahead();
      });
    }
    ++groups_done;
    if (!is_more || !same_child) {
      if (in_runs) EndRunOfChild<kCategories>(tree, place.child, groups_done, item, shared, room);
      groups_done = 0;
      least = 0.0f;
    }
    if (kCategories) ask_ahead();  // till here the room was in use
    place = ahead;
    item = next_item;
    group = next_group;
    segment = next_segment;
  }
  if (next == NextLevel::kByHost || tree.order.nodes != nullptr) return;
  if (!IsLastBlock(&tree.state->finished_blocks, gridDim.x)) return;
  if (next == NextLevel::kLists) {
    SelectLevel<kMonotone>(tree, level);
  } else {
    SelectPaths<kMonotone>(tree, level, step);
  }
}

void FindSplitsByBlocks(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, PathStep step,
                        DeviceLimits const& limits, cudaStream_t stream) {
  unsigned blocks = Blocks(2 * bounds.families * tree.group_count, 1, limits, kSplitResident);
  if (SelectionReduces(tree, next) && blocks > tree.group_count)
    blocks -= blocks % tree.group_count;  // it keeps its group
  bool const categories = tree.categories.sets != nullptr;
  auto* const kernel = tree.limits.directions != nullptr
                           ? (categories ? FindSplitsKernel<true, true> : FindSplitsKernel<true, false>)
                           : (categories ? FindSplitsKernel<false, true> : FindSplitsKernel<false, false>);
  LaunchNext("looking for splits", kernel, blocks, kThreads, 0, LimitsOfSplits(tree, limits), stream, tree, next, step,
             bounds.keeps);
}

}  // namespace

void FindSplits(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, PathStep step,
                DeviceLimits const& limits, cudaStream_t stream) {
  if (tree.features.of_nodes != nullptr) ChooseFeatures(tree, bounds, limits, stream);
  if (tree.warp_group_count != 0) {
    FindSplitsByWarps(tree, bounds, next, limits, stream);
  } else {
    FindSplitsByBlocks(tree, bounds, next, step, limits, stream);
  }
  if (next != NextLevel::kByHost && tree.order.nodes != nullptr) SelectOrdered(tree, next, step, limits, stream);
}

}  // namespace xgbgpu::cuda
