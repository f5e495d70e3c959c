#include "core/grid.h"
#include "gradient/gradient_ops.h"
#include "level/plan.cuh"
#include "sample/sample_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // one Philox block serves four rows
constexpr int kBlockRows = kThreads * kLaneRows;

/// Sum of the block's rows, added to the tree's.
__device__ void AddSum(GradientSum sum, LevelState* state) {
  sum.grad = WarpSum(sum.grad);
  sum.hess = WarpSum(sum.hess);
  if (threadIdx.x % 32 == 0) {
    AtomicAdd(&state->sum.grad, sum.grad);
    AtomicAdd(&state->sum.hess, sum.hess);
  }
}

/// Place for `count` records of this thread in the list, after those of all threads before it: one atomic per block.
__device__ std::uint32_t Reserve(std::uint32_t count, LevelState* state) {
  __shared__ std::uint32_t warp_counts[kThreads / 32], block_place;
  std::uint32_t const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint32_t up_to = count;
  for (int d = 1; d < 32; d *= 2) {
    std::uint32_t const other = __shfl_up_sync(kAllLanes, up_to, d);
    if (lane >= static_cast<std::uint32_t>(d)) up_to += other;
  }
  if (lane == 31) warp_counts[warp] = up_to;
  __syncthreads();
  std::uint32_t before = 0, all = 0;
  for (std::uint32_t w = 0; w < kThreads / 32; ++w) {
    if (w < warp) before += warp_counts[w];
    all += warp_counts[w];
  }
  if (threadIdx.x == 0) block_place = atomicAdd(&state->rows, all);
  __syncthreads();
  std::uint32_t const place = block_place + before + up_to - count;
  __syncthreads();  // the shared words are used again
  return place;
}

/// kSample: only the drawn rows, in any order: sums do not depend on it.
template <bool kSample>
__global__ void __launch_bounds__(kThreads) ListRootRowsKernel(DeviceTree tree) {
  std::uint64_t const rows = tree.matrix.rows;
  GradientState const& gradient = *tree.gradient;
  TreeSettings const& settings = *tree.settings;
  bool const narrow = gradient.format.narrow;
  GradientSum sum;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kBlockRows; base < rows;
       base += std::uint64_t{gridDim.x} * kBlockRows) {
    std::uint64_t const first = base + threadIdx.x * kLaneRows;
    auto const block = static_cast<std::uint32_t>(first / 4);
    RandomBlock draws{}, rounding{};
    if (kSample) draws = RandomStream{settings.seed, RandomPurpose::kRowSample, settings.tree, 0}.Block(block);
    if (narrow) rounding = RandomStream{settings.seed, RandomPurpose::kRounding, settings.tree, 0}.Block(block);
    RowRecord records[kLaneRows];
    bool in[kLaneRows];
    std::uint32_t count = 0;
    for (int i = 0; i < kLaneRows; ++i) {
      std::uint64_t const row = first + static_cast<std::uint64_t>(i);
      in[i] = row < rows && (!kSample || IsSampled(draws.word[i], settings.sample_threshold));
      if (!in[i]) continue;
      ++count;
      records[i].row = static_cast<RowIndex>(row);
      GradientPair const v = tree.gradients[row];
      GradientSum q;
      if (narrow) {
        records[i].gradient = QuantiseNarrow(v, gradient.grad_scale, gradient.hess_scale, rounding.word[i]);
        q = {records[i].gradient.grad, records[i].gradient.hess};
      } else {
        records[i].gradient = {0, 0};
        q = QuantiseWide(v, gradient.grad_scale, gradient.hess_scale);
      }
      sum.grad += q.grad;
      sum.hess += q.hess;
    }
    std::uint64_t place = first;
    if (kSample) place = Reserve(count, tree.state);
    for (int i = 0; i < kLaneRows; ++i) {
      if (in[i]) tree.lists[0][place++] = records[i];
    }
  }
  AddSum(sum, tree.state);
}

__global__ void MakeRootKernel(DeviceTree tree, bool sampled) {
  std::uint32_t const rows = sampled ? tree.state->rows : static_cast<std::uint32_t>(tree.matrix.rows);
  MakeRoot(tree, rows);
  tree.sum_jobs[0] = {0, 0, 0};
  tree.state->sum_units = (rows + tree.unit_rows - 1) / tree.unit_rows;
}

}  // namespace

void ListRootRows(DeviceTree const& tree, bool sampled, DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(tree.matrix.rows, kBlockRows, limits, kResident);
  if (sampled) {
    ListRootRowsKernel<true><<<blocks, kThreads, 0, stream>>>(tree);
  } else {
    ListRootRowsKernel<false><<<blocks, kThreads, 0, stream>>>(tree);
  }
  CheckLaunch("listing the rows of the root");
  MakeRootKernel<<<1, 1, 0, stream>>>(tree, sampled);
  CheckLaunch("making the root");
}

}  // namespace xgbgpu::cuda
