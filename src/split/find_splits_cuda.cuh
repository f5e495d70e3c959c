/// The kernel that finds splits, by blocks. A Plan defines the work of the last block.
///
/// The kernel receives a Plan by value. Its members:
///   Early        data that it may read before the splits are known
///   reduces      it finds the best of each node's candidates itself, at most kMostReducedGroups of them
///   HasLast()    the last block has work
///   Begin(view)  returns Early; one thread calls it
///   Finish<kMonotone>(view, early)  called by the last block, of kPlanThreads threads, when all splits are known
#ifndef XGBGPU_SPLIT_FIND_SPLITS_CUDA_CUH_
#define XGBGPU_SPLIT_FIND_SPLITS_CUDA_CUH_

#include "cuda/block_scan.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "split/category_split_cuda.cuh"
#include "split/group_split_cuda.cuh"
#include "split/node_split.cuh"
#include "split/split_cuda.h"

namespace xgbgpu::cuda {

static_assert(kSplitThreads == kPlanThreads);  // the last block plans

/// The place of a block in its items. An item is a group of features of one child; the next child's items follow.
struct ItemPlace {
  std::uint32_t child, group;
  std::uint32_t children_apart, groups_apart;  ///< distance of consecutive items of a block
  std::uint32_t left;                          ///< remaining items of the block

  __device__ void Next(std::uint32_t groups) {
    --left;
    child += children_apart;
    group += groups_apart;
    if (group < groups) return;
    group -= groups;
    ++child;
  }
};

/// Returns the first item of a block. Items are as far apart as there are blocks, so that a block keeps its group if
/// possible.
__device__ inline ItemPlace FirstOfAll(std::uint32_t groups) {
  std::uint32_t const child = blockIdx.x / groups, apart = gridDim.x / groups;
  return {child, blockIdx.x - child * groups, apart, gridDim.x - apart * groups, 0};
}
/// Returns the first of a run of items, of few children.
__device__ inline ItemPlace FirstOfRun(std::uint32_t groups, std::uint32_t children) {
  std::uint64_t const items = std::uint64_t{children} * groups;
  auto const begin = static_cast<std::uint32_t>(items * blockIdx.x / gridDim.x);
  auto const end = static_cast<std::uint32_t>(items * (blockIdx.x + 1) / gridDim.x);
  return {begin / groups, begin % groups, 0, 1, end - begin};
}

/// Writes the node's best split, in the block that has finished the node's last group.
template <bool kCategories>
__device__ void FinishNode(SplitView const& view, GroupItem const& item, SplitShared const& shared,
                           CategoryShared* room) {
  if (threadIdx.x < 32) {
    __threadfence();
    BestOfNode(item.candidates, view.group_count, view.tree.nodes + item.node);
  }
  if constexpr (kCategories) {
    __syncthreads();
    WriteNodeSet(view, shared.params, item.node, item.own, room);
  }
}

/// Counts the block's groups of a child. The child's last block writes its best split.
template <bool kCategories>
__device__ void EndRunOfChild(SplitView const& view, std::uint32_t child, std::uint32_t groups_done,
                              GroupItem const& item, SplitShared const& shared, CategoryShared* room) {
  __shared__ bool last_group;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    Family* const counted = view.tree.families + child / 2;
    std::uint32_t* const finished = child % 2 != 0 ? &counted->finished_sibling : &counted->finished_built;
    last_group = atomicAdd(finished, groups_done) + groups_done == view.group_count;
  }
  __syncthreads();
  if (last_group) FinishNode<kCategories>(view, item, shared, room);
  __syncthreads();  // last_group is written again next
}

/// kMonotone: there are monotone constraints. kCategories: there are categorical features. keeps: see LevelBounds.
template <bool kMonotone, bool kCategories, typename Plan>
__global__ void __launch_bounds__(kSplitThreads, kSplitResident)
    FindSplitsKernel(SplitView view, Plan plan, bool keeps) {
  __shared__ SplitShared shared;
  __shared__ StagedBins staged;  // or room for categories, which stage no bins
  static_assert(sizeof(CategoryShared) <= sizeof(StagedBins) && alignof(CategoryShared) <= alignof(StagedBins));
  auto* const room = reinterpret_cast<CategoryShared*>(&staged);
  __shared__ typename Plan::Early early;  // for the last block
  std::uint32_t const groups = view.group_count;
  auto const stride = static_cast<std::uint32_t>(view.matrix.cell_stride());
  // If each node has its own last block, few blocks per node are best.
  bool const in_runs = !plan.reduces;
  ItemPlace place = FirstOfAll(groups);
  SplitGroup group = view.groups[place.group];  // constant during a tree, so read early
  WaitForKernelBefore();
  // All of the loads are in flight together. A family exists for the first item of every block, even if it is unused.
  Family family = view.tree.families[place.child / 2];
  bool const root = view.tree.families[0].sibling_slot < 0;  // the root has no sibling, every other family has one
  std::uint32_t const children = view.tree.state->families * (root ? 1 : 2);
  if (threadIdx.x == 0) {
    early = plan.Begin(view);
    shared.params = ParamsOf(*view.params, view.gradient->format);
    shared.filter = FilterOf(shared.params);
  }
  if (in_runs) {
    place = FirstOfRun(groups, children);
    if (place.left != 0) {
      family = view.tree.families[place.child / 2];
      group = view.groups[place.group];
    }
  } else {
    std::uint32_t const items = children * groups;
    place.left = (items + gridDim.x - 1 - min(blockIdx.x, items)) / gridDim.x;
  }
  BinSegment segment = SegmentOf(view, group);
  GroupItem item{};
  if (place.left != 0) {
    item = ItemOf(view, place.child, family);
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
    if (is_more && !same_child) family = view.tree.families[ahead.child / 2];
    if (is_more && !same_group) next_group = view.groups[ahead.group];
    auto const ask_ahead = [&] {
      if (!is_more) return;
      if (!same_child) next_item = ItemOf(view, ahead.child, family);
      if (!same_group) next_segment = SegmentOf(view, next_group);
      StageBins(next_segment, stride, next_item, &staged);
    };
    if (kCategories && group.categorical) {
      FeatureIndex const f = group.first;
      BestOfCategories<kMonotone>(view, shared.params, f, item.node, IsIn(view.features.of_tree, f),
                                  IsIn(item.allowed, f) && MayMeetAt(view, item.node, f), item.own, item.built, &shared,
                                  room, item.candidates + place.group);
    } else {
      BestOfGroup<kMonotone>(view, segment, item, keeps, staged, &shared, &least, item.candidates + place.group, [&] {
        if (!kCategories) ask_ahead();
      });
    }
    ++groups_done;
    if (!is_more || !same_child) {
      if (in_runs) EndRunOfChild<kCategories>(view, place.child, groups_done, item, shared, room);
      groups_done = 0;
      least = 0.0f;
    }
    if (kCategories) ask_ahead();  // the room was in use until here
    place = ahead;
    item = next_item;
    group = next_group;
    segment = next_segment;
  }
  if (plan.HasLast() && IsLastBlock(&view.tree.state->finished_blocks, gridDim.x)) {
    plan.template Finish<kMonotone>(view, early);
  }
}

/// Enqueues the subtraction of siblings' histograms and the search for the best split of every child.
template <typename Plan>
void FindSplitsByBlocks(SplitView const& view, LevelBounds const& bounds, Plan const& plan, DeviceLimits const& limits,
                        cudaStream_t stream) {
  unsigned blocks = Blocks(2 * bounds.families * view.group_count, 1, limits, kSplitResident);
  if (plan.reduces && blocks > view.group_count) blocks -= blocks % view.group_count;  // a block keeps its group
  bool const categories = view.categories.sets != nullptr;
  auto* const kernel = view.limits.directions != nullptr
                           ? (categories ? FindSplitsKernel<true, true, Plan> : FindSplitsKernel<true, false, Plan>)
                           : (categories ? FindSplitsKernel<false, true, Plan> : FindSplitsKernel<false, false, Plan>);
  LaunchNext("looking for splits", kernel, blocks, kSplitThreads, 0, LimitsOfSplits(view, limits), stream, view, plan,
             bounds.keeps);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_FIND_SPLITS_CUDA_CUH_
