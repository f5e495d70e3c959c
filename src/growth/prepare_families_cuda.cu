// The kernel that makes the children of families that the host has chosen.
#include "cuda/grid.h"
#include "growth/plan_level.cuh"

namespace xgbgpu::cuda {

namespace {

template <bool kMonotone>
__global__ void __launch_bounds__(kPlanThreads)
    PrepareFamiliesKernel(SplitView view, GrowthView growth, std::uint32_t families) {
  PlanView const plan = PlanOf(view, growth);
  __shared__ typename PlanScan::TempStorage storage;
  unsigned long long all_items = 0;
  for (std::uint32_t base = 0; base < families; base += kPlanThreads) {
    std::uint32_t const f = base + threadIdx.x;
    std::uint32_t items = 0;
    if (f < families) {
      Family const& family = plan.tree.families[f];
      Node const parent = plan.tree.nodes[family.parent];
      items = (parent.rows + plan.lists.item_rows - 1) / plan.lists.item_rows;
      MakeChildren<kMonotone>(plan, family, parent.depth, parent.split);
    }
    unsigned long long const before = ScanStep(items, &all_items, storage);
    if (f < families)
      plan.lists.move_jobs[f] = {plan.tree.families[f].parent, static_cast<std::int32_t>(f), Low(before)};
  }
  if (threadIdx.x != 0) return;
  plan.tree.state->families = families;
  plan.tree.state->move_jobs = families;
  plan.tree.state->move_items = Low(all_items);
}

}  // namespace

void PrepareFamilies(SplitView const& view, GrowthView const& growth, std::uint32_t families, cudaStream_t stream) {
  if (view.limits.directions != nullptr) {
    PrepareFamiliesKernel<true><<<1, kPlanThreads, 0, stream>>>(view, growth, families);
  } else {
    PrepareFamiliesKernel<false><<<1, kPlanThreads, 0, stream>>>(view, growth, families);
  }
  CheckLaunch("preparing a batch of splits");
}

}  // namespace xgbgpu::cuda
