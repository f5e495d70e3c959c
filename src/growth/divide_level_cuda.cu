// The kernel that divides the nodes of a symmetric tree's level, with the plan of the next level behind it.
#include "cuda/launch.h"
#include "growth/plan_lists.cuh"
#include "growth/plan_paths.cuh"
#include "split/node_split.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr std::uint32_t kWarps = kPlanThreads / 32;
constexpr int kResident = 4;

/// Returns how a warp's node is divided by the level's split; the sums are in lane 0.
__device__ SplitCandidate SplitOf(SplitView const& view, LevelBest const& best, Node const& node) {
  // Sums over the side where missing values are not.
  BinIndex const begin = best.default_left ? best.bin : 0;
  BinIndex const end = best.default_left ? view.matrix.bins(best.feature) : best.bin;
  GradientSum const* const sums = view.histograms.slot(node.slot) + view.matrix.first_cell(best.feature);
  std::uint64_t const stride = view.matrix.cell_stride();
  GradientSum side;
#pragma unroll 4
  for (BinIndex b = begin + threadIdx.x % 32; b < end; b += 32) side += sums[b * stride];
  side = {WarpSum(side.grad), WarpSum(side.hess)};
  GradientSum const left = best.default_left ? node.sum - side : side;
  constexpr float kIsDivided = 1.0f;  // more than kLeastGain
  return {kIsDivided, best.feature, best.bin, best.default_left, false, left, node.sum - left};
}

/// Tells the children of the level's nodes their weights. The thread that planned a node does that for its children.
template <bool kMonotone>
__device__ void MakeLevelNodes(SplitView const& view, LevelNode* level_nodes, SplitParams const& params,
                               LevelBest const& best, std::uint32_t first, std::uint32_t end) {
  int const direction = kMonotone ? view.limits.directions[best.feature] : 0;
  for (std::uint32_t n = first + threadIdx.x; n < end; n += kPlanThreads) {
    auto const number = static_cast<NodeIndex>(n);
    LevelNode const node = LevelNodeOf<kMonotone>(view.tree, level_nodes, params, number);
    if (n == 0) level_nodes[0] = node;
    SplitCandidate const split = LoadFresh(&view.tree.nodes[n].split);
    if (split.gain == 0.0f) continue;
    LevelChildren const children = MakeLevelChildren<kMonotone>(params, SumOfNumber(params, split.left),
                                                                SumOfNumber(params, split.right), node, direction);
    LevelNode* const to = level_nodes + view.tree.nodes[n].left;
    to[0] = children.left;
    to[1] = children.right;
  }
}

/// A warp for each node.
template <bool kMonotone>
__global__ void __launch_bounds__(kPlanThreads)
    DivideLevelKernel(SplitView view, LevelSearchView search, GrowthView growth, NextLevel next, PathStep step) {
  WaitForKernelBefore();
  PlanView const plan = PlanOf(view, growth);
  auto const level = MakeSelection<false>(plan);
  LevelBest const best = *search.best();
  bool const divides = best.score > static_cast<double>(kLeastGain);
  std::uint32_t const warp = blockIdx.x * kWarps + threadIdx.x / 32;
  for (std::uint32_t n = level.first + warp; n < level.end; n += gridDim.x * kWarps) {
    Node const& node = view.tree.nodes[n];
    SplitCandidate split;
    if (divides && node.sum.hess > 0) split = SplitOf(view, best, node);
    if (threadIdx.x % 32 == 0) StoreWhole(&view.tree.nodes[n].split, split);
  }
  if (!IsLastBlock(&view.tree.state->finished_blocks, gridDim.x)) return;
  if (next == NextLevel::kLists) {
    SelectLevel<false>(plan, level);
  } else {
    SelectPaths<false>(plan, level, step);
  }
  SplitParams const params = ParamsOf(plan.settings->split, plan.gradient->format);
  MakeLevelNodes<kMonotone>(view, search.nodes, params, best, level.first, level.end);
}

}  // namespace

void DivideLevel(SplitView const& view, LevelSearchView const& search, NextPlan const& plan, LevelBounds const& bounds,
                 DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = view.limits.directions != nullptr ? DivideLevelKernel<true> : DivideLevelKernel<false>;
  LaunchNext("dividing a level", kernel, Blocks(2 * bounds.families, kWarps, limits, kResident), kPlanThreads, 0,
             LimitsOfSplits(view, limits), stream, view, search, plan.growth, plan.next, plan.step);
}

}  // namespace xgbgpu::cuda
