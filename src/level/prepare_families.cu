#include "core/grid.h"
#include "level/device_tree.h"
#include "level/plan.cuh"

namespace xgbgpu::cuda {

namespace {

template <bool kMonotone>
__global__ void __launch_bounds__(kPlanThreads) PrepareFamiliesKernel(DeviceTree tree, std::uint32_t families) {
  __shared__ typename PlanScan::TempStorage storage;
  unsigned long long all_items = 0;
  for (std::uint32_t base = 0; base < families; base += kPlanThreads) {
    std::uint32_t const f = base + threadIdx.x;
    std::uint32_t items = 0;
    if (f < families) {
      Family const& family = tree.families[f];
      Node const parent = tree.nodes[family.parent];
      items = (parent.rows + tree.item_rows - 1) / tree.item_rows;
      MakeChildren<kMonotone>(tree, family.parent, parent.depth, parent.split, family.left);
    }
    unsigned long long const before = ScanStep(items, &all_items, storage);
    if (f < families) tree.move_jobs[f] = {tree.families[f].parent, static_cast<std::int32_t>(f), Low(before)};
  }
  if (threadIdx.x != 0) return;
  tree.state->families = families;
  tree.state->move_jobs = families;
  tree.state->move_items = Low(all_items);
}

}  // namespace

void PrepareFamilies(DeviceTree const& tree, std::uint32_t families, cudaStream_t stream) {
  if (tree.limits.directions != nullptr) {
    PrepareFamiliesKernel<true><<<1, kPlanThreads, 0, stream>>>(tree, families);
  } else {
    PrepareFamiliesKernel<false><<<1, kPlanThreads, 0, stream>>>(tree, families);
  }
  CheckLaunch("preparing a batch of splits");
}

}  // namespace xgbgpu::cuda
