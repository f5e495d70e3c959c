/// Starts a tree by paths on a device: gradients in fixed point, the root.
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "gradient/four_gradients.cuh"
#include "gradient/gradient_ops.h"
#include "partition/partition_cuda.h"
#include "partition/path_jobs.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // of a thread at a time: arrays are read and written in 16 bytes

/// All rows, in their order.
struct AllRows {
  GradientPair const* gradients;
  EarlyGradients early;
  std::uint64_t n;

  __device__ std::uint64_t rows() const { return n; }
  /// Returns random words of rows first … first + 3 of the device. Its row 0 has the number first_row.
  __device__ RandomBlock Rounding(RandomStream const& stream, std::uint32_t first_row, std::uint64_t first) const {
    return stream.Four(first_row + static_cast<std::uint32_t>(first));
  }
};

/// The rows of a sample, in its order.
struct SampledRows {
  GradientPair const* gradients;
  EarlyGradients early;
  SampleView sample;

  __device__ std::uint64_t rows() const { return sample.size(); }
  __device__ RandomBlock Rounding(RandomStream const& stream, std::uint32_t first_row, std::uint64_t first) const {
    RowIndex row[kLaneRows];
    if (first + kLaneRows <= sample.size()) {
      static_assert(sizeof(RowRecord) == 8);
      auto const* const from = reinterpret_cast<uint4 const*>(sample.rows + first);
      uint4 const a = from[0], b = from[1];
      row[0] = a.x;
      row[1] = a.z;
      row[2] = b.x;
      row[3] = b.z;
    } else {
#pragma unroll
      for (int i = 0; i < kLaneRows; ++i) row[i] = first + i < sample.size() ? sample.rows[first + i].row : 0;
    }
    RandomBlock words;
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) words.word[i] = stream.Word(first_row + row[i]);
    return words;
  }
};

/// Writes the rows' gradients in fixed point, sums the thread's, and clears paths.
template <typename Rows>
__device__ GradientSum QuantiseRows(GradientState const& gradient, TreeDraw const& draw, std::uint8_t* paths,
                                    Rows const& from, NarrowGradient* out) {
  std::uint64_t const rows = from.rows();
  bool const narrow = gradient.format.narrow;
  NarrowScales const scales = MakeNarrowScales(gradient.format);
  RandomStream const stream{draw.seed, RandomPurpose::kRounding, draw.tree, 0};
  GradientSum sum;
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads * kLaneRows;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) * kLaneRows; first < rows;
       first += step) {
    // Paths and the output have room for whole fours.
    if (paths != nullptr) *reinterpret_cast<std::uint32_t*>(paths + first) = 0;
    GradientPair v[kLaneRows];
    LoadFour(from.gradients, first, rows, v);
    RandomBlock rounding;
    if (narrow) rounding = from.Rounding(stream, draw.first_row, first);
    NarrowGradient q[kLaneRows];
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      GradientSum wide;
      if (narrow) {
        q[i] = first + i < rows ? QuantiseNarrow(v[i], scales, rounding.word[i]) : NarrowGradient{0, 0};
        wide = {q[i].grad, q[i].hess};
      } else {
        wide = QuantiseWide(v[i], gradient.grad_scale, gradient.hess_scale);
      }
      sum += wide;
    }
    if (!narrow) continue;
    uint4 packed;
    memcpy(&packed, q, sizeof(packed));
    *reinterpret_cast<uint4*>(out + first) = packed;
  }
  return sum;
}

/// Makes the root in the last block, if the device is `alone`. With early gradients it is the only work of a single
/// block.
template <typename Rows>
__global__ void __launch_bounds__(kThreads) QuantiseRowsKernel(PartitionView view, RowPaths paths, TreeDraw const* draw,
                                                               Rows from, NarrowGradient* out, bool alone) {
  WaitForKernelBefore();
  GradientState const& gradient = *view.gradient;
  LevelState& state = *view.tree.state;
  unsigned const blocks = gradient.foreseen ? 1 : gridDim.x;
  if (blockIdx.x >= blocks) return;
  if (!gradient.foreseen) {
    AddBlockSum<kThreads>(QuantiseRows(gradient, *draw, paths.next_path, from, out), &state.sum);
  } else if (threadIdx.x == 0) {
    state.sum = gradient.early.narrow;
  }
  if (IsLastBlock(&state.finished_blocks, blocks) && threadIdx.x == 0) {
    if (alone) MakePathRoot(view.tree, paths, static_cast<std::uint32_t>(from.rows()));
    if (from.early.narrow != nullptr) {  // for the next tree
      *from.early.maxima_before = gradient.format.narrow ? gradient.maxima : GradientMaxima{0, 0};
    }
  }
}

/// Makes the root from the sum over all devices in the state.
template <typename Rows>
__global__ void MakeRootKernel(PartitionView view, RowPaths paths, Rows from) {
  WaitForKernelBefore();
  MakePathRoot(view.tree, paths, static_cast<std::uint32_t>(from.rows()));
}

template <typename Rows>
void Start(PartitionView const& view, RowPaths const& paths, TreeDraw const* draw, Rows const& from,
           NarrowGradient* narrow, DeviceShard const& shard, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("quantising gradients", QuantiseRowsKernel<Rows>,
             Blocks(view.matrix.rows, kThreads * kLaneRows, limits, kResident), kThreads, 0, limits, stream, view,
             paths, draw, from, narrow, shard.alone());
  if (shard.alone()) return;
  DeviceNumbers root;
  root.sums = &view.tree.state->sum.grad;
  root.sum_count = 2;
  shard.devices->Combine(root, &view.gradient->foreseen, stream);  // early sums are combined already
  LaunchNext("making the root", MakeRootKernel<Rows>, 1, 1, 0, limits, stream, view, paths, from);
}

}  // namespace

void StartPaths(PartitionView const& view, RowPaths const& paths, TreeDraw const* draw, EarlyGradients const& early,
                GradientPair const* gradients, NarrowGradient* narrow, DeviceShard const& shard,
                DeviceLimits const& limits, cudaStream_t stream) {
  Start(view, paths, draw, AllRows{gradients, early, view.matrix.rows}, narrow, shard, limits, stream);
}

void StartSampledPaths(PartitionView const& view, RowPaths const& paths, TreeDraw const* draw, SampleView const& sample,
                       NarrowGradient* narrow, DeviceShard const& shard, DeviceLimits const& limits,
                       cudaStream_t stream) {
  Start(view, paths, draw, SampledRows{sample.gradients, sample.early, sample}, narrow, shard, limits, stream);
}

}  // namespace xgbgpu::cuda
