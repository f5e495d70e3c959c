#include <climits>

#include "core/grid.h"
#include "core/launch.h"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"
#include "split/category_split_cuda.cuh"
#include "split/group_split_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kSplitThreads;
static_assert(kThreads == kPlanThreads);  // its last block plans

/// Best split of a node over the features of one group: written by the thread that finds it.
template <bool kMonotone, bool kCategories>
__device__ void BestOf(DeviceTree const& tree, SplitGroup const& group, Segment const& s, GroupItem const& item,
                       SplitShared* shared, SplitCandidate* best) {
  if constexpr (kCategories) {
    FeatureIndex const f = group.first;
    if (group.categorical) {
      BestOfCategories<kMonotone>(tree, ParamsOf(tree), f, item.node, IsIn(tree.features_of_tree, f),
                                  IsIn(item.allowed, f) && MayMeetAt(tree, item.node, f), item.own, item.built, shared,
                                  best);
      return;
    }
  }
  BestOfGroup<kMonotone>(tree, s, item, shared, best);
}

/// Best split of a node over all groups: found by one warp, written to the node.
__device__ void BestOfNode(DeviceTree const& tree, SplitCandidate const* candidates, Node* node) {
  std::uint32_t const lane = threadIdx.x % 32;
  unsigned long long best = 0;
  std::uint32_t place = 0;
  for (std::uint32_t g = lane; g < tree.group_count; g += 32) {
    float const gain = __ldcg(&candidates[g].gain);
    // Groups are in the order of their features: of equal gains the first group wins.
    unsigned long long const key = CandidateKey(gain, g);
    if (key > best) {
      best = key;
      place = g;
    }
  }
  unsigned long long const top = WarpMax(best);
  if (top == 0 ? lane == 0 : best == top) node->split = LoadFresh(candidates + place);
}

__device__ std::uint32_t const* SetOf(DeviceTree const& tree, std::uint32_t family, bool right) {
  if (tree.features_of_node == nullptr) return nullptr;
  return tree.features_of_node + std::uint64_t{2 * family + right} * tree.feature_words;
}

/// Where a block is: items are groups of features of one child, then those of the next.
struct ItemPlace {
  std::uint32_t child, group;
  std::uint32_t children_apart, groups_apart;  ///< of two items that follow each other in a block

  __device__ explicit ItemPlace(std::uint32_t groups)
      : child{blockIdx.x / groups},
        group{blockIdx.x - child * groups},
        children_apart{gridDim.x / groups},
        groups_apart{gridDim.x - children_apart * groups} {}

  __device__ void Next(std::uint32_t groups) {
    child += children_apart;
    group += groups_apart;
    if (group < groups) return;
    group -= groups;
    ++child;
  }
};

/// The block was the last of those that looked at the groups of node n: writes the node's best split.
template <bool kCategories>
__device__ void FinishNode(DeviceTree const& tree, SplitCandidate const* candidates, NodeIndex n, GradientSum* own) {
  if (threadIdx.x < 32) {
    __threadfence();
    BestOfNode(tree, candidates, tree.nodes + n);
  }
  if constexpr (kCategories) {
    __syncthreads();
    WriteNodeSet(tree, ParamsOf(tree), n, own);
  }
}

/// kMonotone: there are monotone constraints. kCategories: some features are categorical.
template <bool kMonotone, bool kCategories>
__global__ void __launch_bounds__(kThreads, kSplitResident)
    FindSplitsKernel(DeviceTree tree, NextLevel next, PathStep step) {
  __shared__ SplitShared shared;
  __shared__ bool last_group;
  __shared__ Selection<false> level;  // for the last block
  std::uint32_t const groups = tree.group_count;
  // What no kernel of the tree writes can be read early. Items of a block seldom have another group than its first one.
  ItemPlace place{groups};
  std::uint32_t g = place.group;
  SplitGroup group = tree.groups[g];
  Segment segment = SegmentOf(tree, group);
  WaitForKernelBefore();
  if (threadIdx.x == 0) {
    level = MakeSelection<false>(tree);
    shared.filter = FilterOf(ParamsOf(tree));
  }
  // Loaded before it is known how many there are: there is room for those of all blocks.
  Family family = tree.families[place.child / 2];
  // Children at the greatest depth are not evaluated: nothing is subtracted from the histograms of their parents.
  int const last_kept = next == NextLevel::kByHost ? INT_MAX : tree.settings->max_depth - 2;
  bool const root = tree.families[0].sibling_slot < 0;  // has no sibling; every other family has one
  std::uint32_t const children = tree.state->families * (root ? 1 : 2);
  for (bool first = true; place.child < children; place.Next(groups), first = false) {
    std::uint32_t const f = place.child / 2, child = place.child % 2;  // 0 and 0 for the root
    if (!first) family = tree.families[f];
    if (place.group != g) {
      g = place.group;
      group = tree.groups[g];
      segment = SegmentOf(tree, group);
    }
    auto const sums = [&](std::int32_t slot) {
      return tree.histograms + static_cast<std::uint64_t>(slot) * tree.matrix.cells;
    };
    bool const subtract = child == 1 && family.subtract != 0;
    NodeIndex const n = child == 0 ? family.built() : family.sibling();
    SplitCandidate* const candidates = tree.candidates + (std::uint64_t{2 * f} + (n == family.left ? 0 : 1)) * groups;
    GradientSum* const own = sums(child == 0 ? family.built_slot : family.sibling_slot);
    GroupItem const item{n, own, subtract ? sums(family.built_slot) : nullptr, SetOf(tree, f, n != family.left),
                         last_kept};
    BestOf<kMonotone, kCategories>(tree, group, segment, item, &shared, candidates + g);
    if (SelectionReduces(tree, next)) continue;
    __threadfence();
    __syncthreads();
    std::uint32_t* const finished = child == 0 ? &tree.families[f].finished_built : &tree.families[f].finished_sibling;
    if (threadIdx.x == 0) last_group = atomicAdd(finished, 1U) == groups - 1;
    __syncthreads();
    if (last_group) FinishNode<kCategories>(tree, candidates, n, own);
    __syncthreads();  // last_group is used again
  }
  if (next == NextLevel::kByHost || tree.order.nodes != nullptr) return;
  if (!IsLastBlock(&tree.state->finished_blocks, gridDim.x)) return;
  if (next == NextLevel::kLists) {
    SelectLevel<kMonotone>(tree, level);
  } else {
    SelectPaths<kMonotone>(tree, level, step);
  }
}

}  // namespace

void FindSplits(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, PathStep step,
                DeviceLimits const& limits, cudaStream_t stream) {
  if (tree.features_of_node != nullptr) ChooseFeatures(tree, bounds, limits, stream);
  unsigned blocks = Blocks(2 * bounds.families * tree.group_count, 1, limits, kSplitResident);
  if (blocks > tree.group_count) blocks -= blocks % tree.group_count;  // a block keeps its group
  bool const categories = tree.categories.sets != nullptr;
  auto* const kernel = tree.limits.directions != nullptr
                           ? (categories ? FindSplitsKernel<true, true> : FindSplitsKernel<true, false>)
                           : (categories ? FindSplitsKernel<false, true> : FindSplitsKernel<false, false>);
  // Blocks that come early crowd on the multiprocessors that are the first to be done with their sums.
  DeviceLimits own = limits;
  own.starts_early = own.starts_early && tree.matrix.rows <= kMostEarlyRows;
  LaunchNext("looking for splits", kernel, blocks, kThreads, 0, own, stream, tree, next, step);
  if (next != NextLevel::kByHost && tree.order.nodes != nullptr) SelectOrdered(tree, next, step, limits, stream);
}

}  // namespace xgbgpu::cuda
