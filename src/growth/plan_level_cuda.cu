#include "cuda/launch.h"
#include "growth/plan_lists.cuh"
#include "growth/plan_paths.cuh"

namespace xgbgpu::cuda {

namespace {

/// One block.
template <bool kMonotone>
__global__ void __launch_bounds__(kPlanThreads)
    PlanLevelKernel(SplitView view, GrowthView growth, NextLevel next, PathStep step) {
  PlanView const plan = PlanOf(view, growth);
  WaitForKernelBefore();
  auto const level = MakeSelection<false>(plan);
  __syncthreads();  // the plan writes what the selection was made of
  if (next == NextLevel::kLists) {
    SelectLevel<kMonotone>(plan, level);
  } else {
    SelectPaths<kMonotone>(plan, level, step);
  }
}

}  // namespace

void PlanLevel(SplitView const& view, GrowthView const& growth, NextLevel next, PathStep step,
               DeviceLimits const& limits, cudaStream_t stream) {
  if (growth.order.nodes != nullptr) return;
  auto* const kernel = view.limits.directions != nullptr ? PlanLevelKernel<true> : PlanLevelKernel<false>;
  LaunchNext("choosing the next level", kernel, 1, kPlanThreads, 0, limits, stream, view, growth, next, step);
}

}  // namespace xgbgpu::cuda
