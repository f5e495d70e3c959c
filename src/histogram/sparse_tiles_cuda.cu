// Sums the gradients of sparse rows tile by tile in shared memory.
#include "cuda/launch.h"
#include "gradient/gradient_ops.h"
#include "histogram/histogram_cuda.cuh"
#include "histogram/histogram_policy.h"
#include "histogram/sparse_tiles_cuda.h"
#include "matrix/device_matrix_policy.h"
#include "partition/row_feeds.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr unsigned kThreads = 1024;
constexpr std::uint32_t kLanes = 8;          ///< lanes that share the cells of a row
constexpr std::uint32_t kRowSteps = kLanes;  ///< 32 rows of a warp, four at a time
constexpr std::uint32_t kNoCell = 0xFFFFFFFFU;

/// The narrow format. One pass makes both sums of a cell, of 32 bits each, in a plane of gradients and a plane of
/// hessians.
struct NarrowCells {
  static constexpr std::uint32_t kPasses = 1;
  static constexpr std::uint32_t kMostRows = NarrowSums::kMaxRows;
  using Value = std::uint32_t;  ///< a NarrowGradient

  static __device__ Value Of(GradientState const*, ListSource const&, RowRecord const& record, std::uint32_t) {
    return __builtin_bit_cast(std::uint32_t, record.gradient);
  }
  static __device__ void Add(std::uint32_t* cell, std::uint32_t plane, Value value) {
    auto const gradient = __builtin_bit_cast(NarrowGradient, value);
    atomicAdd(cell, static_cast<std::uint32_t>(static_cast<std::int32_t>(gradient.grad)));
    atomicAdd(cell + plane, static_cast<std::uint32_t>(static_cast<std::int32_t>(gradient.hess)));
  }
  /// Clears word i of both planes, cell by cell, and passes its contents to add(cell, which sum, value).
  template <typename AddTo>
  static __device__ void Take(std::uint32_t* sums, std::uint32_t plane, std::uint32_t cells, std::uint32_t,
                              AddTo&& add) {
    for (std::uint32_t i = threadIdx.x; i < 2 * cells; i += kThreads) {
      std::uint32_t* const word = sums + i % 2 * plane + i / 2;
      auto const sum = static_cast<std::int32_t>(*word);
      *word = 0;
      if (sum != 0) add(i / 2, i % 2, sum);
    }
  }
};

/// The wide format. Gradients and hessians have a pass each, with a plane of low words and a plane of high words.
struct WideCells {
  static constexpr std::uint32_t kPasses = 2;
  static constexpr std::uint32_t kMostRows = WideSums::kMaxRows;
  using Value = std::int64_t;

  static __device__ Value Of(GradientState const* gradient, ListSource const& source, RowRecord const& record,
                             std::uint32_t pass) {
    GradientSum const own =
        QuantiseWide(source.lists.gradients[record.row], gradient->grad_scale, gradient->hess_scale);
    return pass == 0 ? own.grad : own.hess;
  }
  static __device__ void Add(std::uint32_t* cell, std::uint32_t plane, Value value) {
    AddInWords(cell, cell + plane, value);
  }
  template <typename AddTo>
  static __device__ void Take(std::uint32_t* sums, std::uint32_t plane, std::uint32_t cells, std::uint32_t pass,
                              AddTo&& add) {
    for (std::uint32_t cell = threadIdx.x; cell < cells; cell += kThreads) {
      std::uint32_t *const low = sums + cell, *const high = low + plane;
      std::uint64_t const sum = std::uint64_t{*high} << 32 | *low;
      *low = *high = 0;
      if (sum != 0) add(cell, pass, static_cast<std::int64_t>(sum));
    }
  }
};

/// A row of a list, and the place of its cells of a tile.
struct TileRow {
  RowRecord record;
  std::uint32_t begin, end;

  __device__ void FindCells(std::uint32_t const* tile_ptr) {
    begin = tile_ptr[record.row];
    end = tile_ptr[record.row + std::uint64_t{1}];
  }
};

/// Adds the cells of 32 rows, one a lane. Eight lanes share the cells of a row, and the next cells of all rows are in
/// flight together. Rows that do not count have no cells.
template <typename Cells>
__device__ void AddRows(DeviceMatrixView const& m, TileRow const& row, typename Cells::Value value, std::uint32_t* sums,
                        std::uint32_t plane) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t at[kRowSteps], end[kRowSteps];
  typename Cells::Value values[kRowSteps];
#pragma unroll
  for (std::uint32_t k = 0; k < kRowSteps; ++k) {
    std::uint32_t const source = k * (32 / kRowSteps) + lane / kLanes;
    at[k] = __shfl_sync(kAllLanes, row.begin, source) + lane % kLanes;
    end[k] = __shfl_sync(kAllLanes, row.end, source);
    values[k] = __shfl_sync(kAllLanes, value, source);
  }
  bool more = true;
  while (__any_sync(kAllLanes, more)) {
    more = false;
    std::uint32_t cell[kRowSteps];
#pragma unroll
    for (std::uint32_t k = 0; k < kRowSteps; ++k) cell[k] = at[k] < end[k] ? m.tile_cells[at[k]] : kNoCell;
#pragma unroll
    for (std::uint32_t k = 0; k < kRowSteps; ++k) {
      if (cell[k] != kNoCell) Cells::Add(sums + cell[k], plane, values[k]);
      at[k] += kLanes;
      more |= at[k] < end[k];
    }
  }
}

/// Sums the rows of a segment in one tile, and merges the sums before they can overflow. The places of the next rows'
/// cells are in flight during an addition, and so are the records of the rows after them.
template <typename Cells>
__device__ void SumSegment(HistogramView const& view, ListSource const& source, Segment const& s,
                           std::uint32_t tile_index, std::uint32_t pass, std::uint32_t plane, std::uint32_t* sums) {
  DeviceMatrixView const& m = view.matrix;
  DeviceTile const tile = m.tile[tile_index];
  RowRecord const* const rows = source.lists.lists[s.list] + s.first;
  std::uint32_t const* const tile_ptr = m.tile_ptr + tile_index * m.rows;
  GradientSum* const histogram = view.histograms.slot(s.slot) + tile.first_cell;
  auto const record_at = [&](std::uint32_t i) { return rows[min(i, s.n - 1)]; };
  for (std::uint32_t first = 0, n; first < s.n; first += n) {
    n = min(s.n - first, Cells::kMostRows);
    std::uint32_t const last = first + n;
    std::uint32_t i = first + threadIdx.x;
    TileRow row{record_at(i), 0, 0}, next{record_at(i + kThreads), 0, 0};
    row.FindCells(tile_ptr);
    for (; i - threadIdx.x % 32 < last; i += kThreads) {
      next.FindCells(tile_ptr);
      RowRecord const after = record_at(i + 2 * kThreads);
      if (i >= last) row.end = row.begin;
      AddRows<Cells>(m, row, Cells::Of(view.gradient, source, row.record, pass), sums, plane);
      row = next;
      next.record = after;
    }
    __syncthreads();
    bool const whole = s.whole && n == s.n;
    Cells::Take(sums, plane, tile.bins, pass, [&](std::uint32_t cell, std::uint32_t which, std::int64_t sum) {
      std::int64_t* const to = which == 0 ? &histogram[cell].grad : &histogram[cell].hess;
      if (whole) {
        *to = sum;
      } else {
        AtomicAdd(to, sum);
      }
    });
    __syncthreads();
  }
}

/// Sums gradients of one format. Every block takes an equal run of units, tile by tile. The sums are zero before and
/// after.
template <typename Cells>
__device__ void SumTiles(HistogramView const& view, ListSource const& source, std::uint32_t least_units,
                         std::uint32_t plane, std::uint32_t* sums) {
  ListJobs const jobs{source, view.state->sum_jobs, view.state->sum_units};
  std::uint64_t const units = jobs.all_units, work = units * view.matrix.tiles * Cells::kPasses;
  std::uint64_t at, end;
  if (!FindRun(work, least_units, &at, &end)) return;
  while (at < end) {
    auto const tile_pass = static_cast<std::uint32_t>(at / units);
    std::uint64_t const begin = tile_pass * units;  // of the tile and pass
    std::uint32_t taken = 0;
    Segment const s = jobs.At(0, static_cast<std::uint32_t>(at - begin),
                              static_cast<std::uint32_t>(min(end - begin, units)), kMostSegmentRows, &taken);
    at += taken;
    if (s.n != 0)
      SumSegment<Cells>(view, source, s, tile_pass / Cells::kPasses, tile_pass % Cells::kPasses, plane, sums);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    SumSparseTilesKernel(HistogramView view, ListSource source, std::uint32_t least_units, std::uint32_t plane) {
  extern __shared__ std::uint32_t sparse_sums[];
  for (std::uint32_t i = threadIdx.x; i < 2 * plane; i += kThreads) sparse_sums[i] = 0;
  WaitForKernelBefore();
  __syncthreads();
  if (view.gradient->format.narrow) {
    SumTiles<NarrowCells>(view, source, least_units, plane, sparse_sums);
  } else {
    SumTiles<WideCells>(view, source, least_units, plane, sparse_sums);
  }
}

}  // namespace

void SumSparseTiles(HistogramView const& view, RowLists const& rows, Node const* nodes, LevelBounds const& bounds,
                    DeviceLimits const& limits, cudaStream_t stream) {
  std::uint32_t const plane = SparsePlane(bounds.symbols);
  AllowShared(SumSparseTilesKernel, limits.block_bytes);
  LaunchNext("summing histograms", SumSparseTilesKernel, static_cast<unsigned>(limits.processors), kThreads,
             2 * std::size_t{plane} * sizeof(std::uint32_t), limits, stream, view, ListSource{rows, nodes},
             DeviceHistogramPolicy{}.least_units, plane);
}

}  // namespace xgbgpu::cuda
