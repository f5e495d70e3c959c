#include "core/block_totals.cuh"
#include "core/grid.h"
#include "core/launch.h"
#include "gradient/gradient_ops.h"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 8;

__global__ void __launch_bounds__(kThreads)
    QuantiseSampleKernel(DeviceTree tree, SampleView sample, NarrowGradient* narrow) {
  WaitForKernelBefore();
  std::uint32_t const rows = sample.size();
  GradientState const& gradient = *tree.gradient;
  NarrowScales const scales = MakeNarrowScales(gradient.format);
  RandomStream const rounding{tree.settings->draw.seed, RandomPurpose::kRounding, tree.settings->draw.tree, 0};
  GradientSum sum;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows;
       i += std::uint64_t{gridDim.x} * kThreads) {
    if (tree.paths.next_path != nullptr) tree.paths.next_path[i] = 0;
    GradientPair const v = sample.gradients[i];
    GradientSum q;
    if (gradient.format.narrow) {
      NarrowGradient const n = QuantiseNarrow(v, scales, rounding.Word(sample.rows[i].row));
      narrow[i] = n;
      q = {n.grad, n.hess};
    } else {
      q = QuantiseWide(v, gradient.grad_scale, gradient.hess_scale);
    }
    sum.grad += q.grad;
    sum.hess += q.hess;
  }
  LevelState& state = *tree.state;
  AddBlockSum<kThreads>(sum, &state.sum);
  if (IsLastBlock(&state.finished_blocks, gridDim.x) && threadIdx.x == 0) MakePathRoot(tree, rows);
}

}  // namespace

void StartSampledPaths(DeviceTree const& tree, SampleView const& sample, NarrowGradient* narrow,
                       DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("quantising the gradients of a sample", QuantiseSampleKernel,
             Blocks(sample.capacity, kThreads, limits, kResident), kThreads, 0, limits, stream, tree, sample, narrow);
}

}  // namespace xgbgpu::cuda
