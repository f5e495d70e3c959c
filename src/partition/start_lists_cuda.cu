// Writes the rows of a tree's root to lists on a device.
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "gradient/gradient_ops.h"
#include "partition/partition_cuda.h"
#include "tree/make_root.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // one Philox block serves four rows
constexpr int kBlockRows = kThreads * kLaneRows;

/// Writes the row's gradient to *narrow, if the format is narrow, and returns its term of the sum.
__device__ GradientSum Quantise(GradientPair v, GradientState const& gradient, std::uint32_t random,
                                NarrowGradient* narrow) {
  *narrow = {0, 0};
  if (!gradient.format.narrow) return QuantiseWide(v, gradient.grad_scale, gradient.hess_scale);
  *narrow = QuantiseNarrow(v, MakeNarrowScales(gradient.format), random);
  return {narrow->grad, narrow->hess};
}

__global__ void __launch_bounds__(kThreads)
    ListRootRowsKernel(PartitionView view, RowLists lists, TreeDraw const* draw) {
  WaitForKernelBefore();
  std::uint64_t const rows = view.matrix.rows;
  GradientState const& gradient = *view.gradient;
  RandomStream const stream{draw->seed, RandomPurpose::kRounding, draw->tree, 0};
  GradientSum sum;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) * kLaneRows; first < rows;
       first += std::uint64_t{gridDim.x} * kBlockRows) {
    RandomBlock rounding{};
    if (gradient.format.narrow) rounding = stream.Four(draw->first_row + static_cast<std::uint32_t>(first));
    for (int i = 0; i < kLaneRows; ++i) {
      std::uint64_t const row = first + static_cast<std::uint64_t>(i);
      if (row >= rows) break;
      RowRecord record{static_cast<RowIndex>(row), {}};
      GradientSum const q = Quantise(lists.gradients[row], gradient, rounding.word[i], &record.gradient);
      sum.grad += q.grad;
      sum.hess += q.hess;
      lists.lists[0][row] = record;
    }
  }
  AddBlockSum<kThreads>(sum, &view.tree.state->sum);
}

/// Lists the sampled rows, which are in list 0, or are copied side by side: the list then has their places in the copy.
__global__ void __launch_bounds__(kThreads)
    ListSampledRowsKernel(PartitionView view, RowLists lists, TreeDraw const* draw, SampleView sample) {
  WaitForKernelBefore();
  std::uint32_t const rows = sample.size();
  bool const copied = sample.records != nullptr;
  GradientState const& gradient = *view.gradient;
  RandomStream const stream{draw->seed, RandomPurpose::kRounding, draw->tree, 0};
  GradientSum sum;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows;
       i += std::uint64_t{gridDim.x} * kThreads) {
    RowIndex const row = sample.rows[i].row;
    RowRecord record{copied ? static_cast<RowIndex>(i) : row, {}};
    std::uint32_t const random = gradient.format.narrow ? stream.Word(draw->first_row + row) : 0;
    GradientSum const q = Quantise(lists.gradients[record.row], gradient, random, &record.gradient);
    sum.grad += q.grad;
    sum.hess += q.hess;
    lists.lists[0][i] = record;
  }
  AddBlockSum<kThreads>(sum, &view.tree.state->sum);
}

__global__ void MakeRootKernel(PartitionView view, RowLists lists, std::uint32_t const* sampled) {
  WaitForKernelBefore();
  // If there are more sampled rows than room, the tree will be grown again.
  auto const most = static_cast<std::uint32_t>(view.matrix.rows);
  std::uint32_t const rows = sampled != nullptr ? min(*sampled, most) : most;
  MakeRoot(view.tree, rows);
  lists.sum_jobs[0] = {0, 0, 0};
  view.tree.state->sum_units = (rows + lists.unit_rows - 1) / lists.unit_rows;
}

/// Replaces the root's sum by the sum over all devices.
void SumRoot(PartitionView const& view, DeviceShard const& shard, cudaStream_t stream) {
  DeviceNumbers root;
  root.sums = &view.tree.state->sum.grad;
  root.sum_count = 2;
  shard.devices->Combine(root, nullptr, stream);
}

}  // namespace

void ListRootRows(PartitionView const& view, RowLists const& rows, TreeDraw const* draw, DeviceShard const& shard,
                  DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("listing the rows of the root", ListRootRowsKernel,
             Blocks(view.matrix.rows, kBlockRows, limits, kResident), kThreads, 0, limits, stream, view, rows, draw);
  SumRoot(view, shard, stream);
  LaunchNext("making the root", MakeRootKernel, 1, 1, 0, limits, stream, view, rows, nullptr);
}

void ListSampledRows(PartitionView const& view, RowLists const& rows, TreeDraw const* draw, SampleView const& sample,
                     DeviceShard const& shard, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("listing the rows of the root", ListSampledRowsKernel,
             Blocks(sample.capacity, kThreads, limits, kResident), kThreads, 0, limits, stream, view, rows, draw,
             sample);
  SumRoot(view, shard, stream);
  LaunchNext("making the root", MakeRootKernel, 1, 1, 0, limits, stream, view, rows, &sample.state->rows);
}

}  // namespace xgbgpu::cuda
