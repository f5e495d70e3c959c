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

/// Copies a row's record of every tile to another place among `to_rows` rows.
template <typename Piece>
__device__ void CopyRecord(DeviceMatrixView const& m, RowIndex row, std::uint8_t* to, std::uint64_t to_rows,
                           std::uint64_t place) {
  std::uint32_t const pieces = m.record_bytes() / sizeof(Piece);
  for (std::uint64_t tile = 0; tile < m.tiles; ++tile) {
    auto const* const source = reinterpret_cast<Piece const*>(m.records) + (tile * m.rows + row) * pieces;
    auto* const target = reinterpret_cast<Piece*>(to) + (tile * to_rows + place) * pieces;
    for (std::uint32_t p = 0; p < pieces; ++p) target[p] = source[p];
  }
}

/// The sampled rows side by side: their bins, and their gradients if the format is narrow.
__global__ void __launch_bounds__(kThreads) GatherRowsKernel(DeviceTree tree, DeviceMatrixView from, SampleView sample,
                                                             std::uint8_t* records, NarrowGradient* narrow) {
  WaitForKernelBefore();
  std::uint32_t const rows = sample.size();
  GradientState const& gradient = *tree.gradient;
  RandomStream const rounding{tree.settings->draw.seed, RandomPurpose::kRounding, tree.settings->draw.tree, 0};
  GradientSum sum;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows;
       i += std::uint64_t{gridDim.x} * kThreads) {
    RowIndex const row = sample.rows[i].row;
    switch (from.record_bytes()) {
      case 4:
        CopyRecord<std::uint32_t>(from, row, records, tree.matrix.rows, i);
        break;
      case 8:
        CopyRecord<uint2>(from, row, records, tree.matrix.rows, i);
        break;
      default:
        CopyRecord<uint4>(from, row, records, tree.matrix.rows, i);
    }
    if (tree.paths.next_path != nullptr) tree.paths.next_path[i] = 0;
    GradientPair const v = sample.gradients[i];
    GradientSum q;
    if (gradient.format.narrow) {
      NarrowGradient const n = QuantiseNarrow(v, gradient.grad_scale, gradient.hess_scale, rounding.Word(row));
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

void StartSampledPaths(DeviceTree const& tree, DeviceMatrixView const& from, SampleView const& sample,
                       std::uint8_t* records, NarrowGradient* narrow, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("gathering the rows of a sample", GatherRowsKernel, Blocks(sample.capacity, kThreads, limits, kResident),
             kThreads, 0, limits, stream, tree, from, sample, records, narrow);
}

}  // namespace xgbgpu::cuda
