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

/// Copies the records of the sampled rows to the rows `to`, of every tile. Neighbouring threads copy the pieces of a
/// record; several are on their way at a time.
template <typename Piece>
__device__ void CopyRecords(DeviceMatrixView const& m, SampleView const& sample, std::uint8_t* to,
                            std::uint64_t to_rows) {
  constexpr int kInFlight = 4;
  std::uint32_t const shift = m.record_bytes() == sizeof(Piece) ? 0 : 1;  // a record is one piece or two
  std::uint64_t const pieces = std::uint64_t{sample.size()} << shift, step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; base < pieces;
       base += kInFlight * step) {
    std::uint64_t source[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      std::uint64_t const p = base + i * step;
      if (p < pieces) source[i] = (std::uint64_t{sample.rows[p >> shift].row} << shift) + (p & shift);
    }
    for (std::uint64_t tile = 0; tile < m.tiles; ++tile) {
      auto const* const from = reinterpret_cast<Piece const*>(m.records) + (tile * m.rows << shift);
      auto* const target = reinterpret_cast<Piece*>(to) + (tile * to_rows << shift);
      Piece v[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        if (base + i * step < pieces) v[i] = from[source[i]];
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        if (base + i * step < pieces) target[base + i * step] = v[i];
      }
    }
  }
}

/// The sampled rows side by side: their bins, and their gradients if the format is narrow.
__global__ void __launch_bounds__(kThreads) GatherRowsKernel(DeviceTree tree, DeviceMatrixView from, SampleView sample,
                                                             std::uint8_t* records, NarrowGradient* narrow) {
  WaitForKernelBefore();
  switch (from.record_bytes()) {
    case 4:
      CopyRecords<std::uint32_t>(from, sample, records, tree.matrix.rows);
      break;
    case 8:
      CopyRecords<uint2>(from, sample, records, tree.matrix.rows);
      break;
    default:
      CopyRecords<uint4>(from, sample, records, tree.matrix.rows);
  }
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

void StartSampledPaths(DeviceTree const& tree, DeviceMatrixView const& from, SampleView const& sample,
                       std::uint8_t* records, NarrowGradient* narrow, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("gathering the rows of a sample", GatherRowsKernel, Blocks(sample.capacity, kThreads, limits, kResident),
             kThreads, 0, limits, stream, tree, from, sample, records, narrow);
}

}  // namespace xgbgpu::cuda
