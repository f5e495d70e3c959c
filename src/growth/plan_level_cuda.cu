// The kernel that plans the next level where splits are known only behind an exchange of devices.
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

void PlanLevel(SplitView const& view, NextPlan const& plan, DeviceLimits const& limits, cudaStream_t stream) {
  if (plan.growth.order.nodes != nullptr) return;
  auto* const kernel = view.limits.directions != nullptr ? PlanLevelKernel<true> : PlanLevelKernel<false>;
  LaunchNext("choosing the next level", kernel, 1, kPlanThreads, 0, limits, stream, view, plan.growth, plan.next,
             plan.step);
}

}  // namespace xgbgpu::cuda
