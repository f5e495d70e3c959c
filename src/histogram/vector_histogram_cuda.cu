// Sums the gradients of several outputs per bin on a device, in shared memory.
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "histogram/histogram_cuda.cuh"
#include "histogram/histogram_policy.h"
#include "histogram/vector_histogram_cuda.h"
#include "partition/row_feeds.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr unsigned kThreads = 1024;
constexpr std::uint32_t kSymbols = 256;    ///< most of a tile whose symbols have a byte
constexpr std::uint32_t kCellBytes = 256;  ///< a symbol's sums in a group
constexpr std::uint32_t kGroupWords = kSymbols * kCellBytes / 4;
static_assert(kMostSegmentRows >= kMostNarrowSumRows);

/// The sums of a tile in shared memory: kGroups groups of [symbol][sum][column], of 256 bytes a symbol, so that the
/// place of a cell takes one instruction (LaneColumns), and the sums of a cell have constant places beside it.
template <int kRecordWords, int kGroups>
struct VectorTile {
  static constexpr int kColumns = 4 * kRecordWords;
  static constexpr int kOfGroup = static_cast<int>(kCellBytes) / 4 / kColumns;  ///< sums: 2, or 4 of 16 columns
  static constexpr int kSums = kGroups * kOfGroup;
  static constexpr int kWords = kSums / 2;
  using Columns = LaneColumns<1, kRecordWords, kCellBytes>;

  /// Adds a row. words[i]: word (i xor columns.word()) of its record. value[s]: of sum s. Half warps that visit the same
  /// columns take neighbouring sums in opposite order.
  static __device__ void Add(std::uint32_t* sums, Columns const& columns, std::uint32_t const (&words)[kRecordWords],
                             std::uint32_t const (&value)[kWords], int used) {
    std::uint32_t const swap = columns.swapped() ? 4 * kColumns : 0;
    auto* const base = reinterpret_cast<std::uint8_t*>(sums);
    auto* const first = base + swap;
    auto* const second = base + (4 * kColumns - swap);
    std::uint32_t own[kSums];
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      auto const low = static_cast<std::uint32_t>(static_cast<std::int32_t>(value[w] << 16) >> 16);
      auto const high = static_cast<std::uint32_t>(static_cast<std::int32_t>(value[w]) >> 16);
      own[2 * w] = columns.swapped() ? high : low;
      own[2 * w + 1] = columns.swapped() ? low : high;
    }
#pragma unroll
    for (int i = 0; i < kRecordWords; ++i) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        std::uint32_t const cell = columns.CellOf(words[i], i, k);
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          if (w >= used) continue;
          constexpr int kPairs = kOfGroup / 2;
          int const place = w / kPairs * static_cast<int>(4 * kGroupWords) + w % kPairs * 8 * kColumns;
          atomicAdd(reinterpret_cast<std::uint32_t*>(first + cell + place), own[2 * w]);
          atomicAdd(reinterpret_cast<std::uint32_t*>(second + cell + place), own[2 * w + 1]);
        }
      }
    }
  }
};

/// A row on its way to a lane: its record, with the words in the order of the lane, and the values of a pass.
template <int kRecordWords, int kValueWords>
struct VectorRow {
  uint4 record[kRecordWords / 4];
  std::uint32_t value[kValueWords];

  __device__ void Fetch(std::uint8_t const* records, RowIndex row, std::uint32_t lane_word,
                        std::uint32_t const* values, int used) {
    auto const* const at = reinterpret_cast<uint4 const*>(records + std::uint64_t{row} * (4 * kRecordWords));
#pragma unroll
    for (int h = 0; h < kRecordWords / 4; ++h) record[h] = at[static_cast<std::uint32_t>(h) ^ lane_word / 4];
#pragma unroll
    for (int w = 0; w < kValueWords; ++w) value[w] = w < used ? values[w] : 0;
  }
  /// Sets words[i] to word (i xor lane_word) of the record.
  __device__ void Hand(std::uint32_t lane_word, std::uint32_t (&words)[kRecordWords]) const {
    bool const by_one = (lane_word & 1U) != 0, by_two = (lane_word & 2U) != 0;
#pragma unroll
    for (int h = 0; h < kRecordWords / 4; ++h) {
      uint4 const r = record[h];
      std::uint32_t const a = by_two ? r.z : r.x, b = by_two ? r.w : r.y, c = by_two ? r.x : r.z,
                          d = by_two ? r.y : r.w;
      words[4 * h] = by_one ? b : a;
      words[4 * h + 1] = by_one ? a : b;
      words[4 * h + 2] = by_one ? d : c;
      words[4 * h + 3] = by_one ? c : d;
    }
  }
};

/// Adds the shared sums to the histogram, and clears them.
template <int kRecordWords, int kGroups>
__device__ void FlushVectors(DeviceMatrixView const& m, std::int64_t* histogram, bool whole, std::uint32_t tile_index,
                             std::uint32_t first_value, std::uint32_t values, VectorCells const& cells,
                             std::uint32_t grad_values, std::uint32_t* sums) {
  using Tile = VectorTile<kRecordWords, kGroups>;
  DeviceTile const tile = m.tile[tile_index];
  std::uint32_t const columns = min(m.tile_columns, m.columns() - tile_index * m.tile_columns);
  std::uint32_t const of_cell = threadIdx.x % (kCellBytes / 4), column = of_cell % Tile::kColumns;
  for (int g = 0; g < kGroups; ++g) {
    std::uint32_t const own = static_cast<std::uint32_t>(g * Tile::kOfGroup) + of_cell / Tile::kColumns;
    std::uint32_t const value = first_value + own;
    bool const is_grad = value < grad_values;
    std::uint32_t const sum = is_grad ? value : cells.outputs + (value - grad_values);
    bool const counts = own < values && column < columns && (is_grad ? value < cells.outputs : sum < cells.sums());
    std::int64_t* to = histogram + (counts ? cells.first(sum) : 0) + tile.first_cell + column;
    std::uint32_t* const from = sums + g * kGroupWords;
    for (std::uint32_t symbol = threadIdx.x / (kCellBytes / 4); symbol < tile.symbols;
         symbol += kThreads / (kCellBytes / 4)) {
      std::uint32_t* const word = from + symbol * (kCellBytes / 4) + of_cell;
      auto const v = static_cast<std::int32_t>(*word);
      if (v == 0) continue;
      *word = 0;
      if (!counts || symbol >= tile.bins) continue;
      std::int64_t* const at = to + std::uint64_t{symbol} * m.tile_columns;
      if (whole) {
        *at = v;
      } else {
        AtomicAdd(at, std::int64_t{v});
      }
    }
  }
}

/// Every block takes an equal run of units, tile by tile, and in a tile pass by pass over the values of a row.
template <int kRecordWords, int kGroups>
__global__ void __launch_bounds__(kThreads, 1)
    SumVectorsKernel(HistogramView view, ListSource source, NarrowRows gradients, VectorCells cells,
                     std::uint32_t least_units) {
  using Tile = VectorTile<kRecordWords, kGroups>;
  extern __shared__ __align__(16) std::uint32_t shared[];
  auto* const clear = reinterpret_cast<uint4*>(shared);
  for (std::uint32_t i = threadIdx.x; i < kGroups * kGroupWords / 4; i += kThreads) clear[i] = {0, 0, 0, 0};
  WaitForKernelBefore();
  __syncthreads();
  DeviceMatrixView const& m = view.matrix;
  ListJobs const jobs{source, view.state->sum_jobs, view.state->sum_units};
  std::uint32_t const passes = (gradients.row_words + Tile::kWords - 1) / Tile::kWords;
  std::uint64_t const units = jobs.all_units;
  std::uint64_t at, end;
  if (!FindRun(units * m.tiles * passes, least_units, &at, &end)) return;
  typename Tile::Columns const columns{threadIdx.x % 32};
  while (at < end) {
    auto const tile_pass = static_cast<std::uint32_t>(at / units);
    std::uint32_t const tile_index = tile_pass / passes, pass = tile_pass % passes;
    std::uint64_t const begin = tile_pass * units;
    std::uint32_t taken = 0;
    Segment const s = jobs.At(0, static_cast<std::uint32_t>(at - begin),
                              static_cast<std::uint32_t>(min(end - begin, units)), kMostNarrowSumRows, &taken);
    at += taken;
    if (s.n == 0) continue;
    std::uint8_t const* const records = m.records + tile_index * m.rows * (4 * kRecordWords);
    int const used = static_cast<int>(min(static_cast<std::uint32_t>(Tile::kWords),
                                          gradients.row_words - pass * Tile::kWords));
    std::uint32_t const* const values = gradients.words + pass * Tile::kWords;
    RowRecord const* const rows = source.lists.lists[s.list] + s.first;
    auto const fetch = [&](RowIndex row, VectorRow<kRecordWords, Tile::kWords>* to) {
      to->Fetch(records, row, columns.word(), values + std::uint64_t{row} * gradients.row_words, used);
    };
    VectorRow<kRecordWords, Tile::kWords> next;
    RowIndex after = 0;  // the row of the step after the next
    if (threadIdx.x < s.n) fetch(rows[threadIdx.x].row, &next);
    if (threadIdx.x + kThreads < s.n) after = rows[threadIdx.x + kThreads].row;
    for (std::uint32_t i = threadIdx.x; i < s.n; i += kThreads) {
      std::uint32_t words[kRecordWords], value[Tile::kWords];
      next.Hand(columns.word(), words);
#pragma unroll
      for (int w = 0; w < Tile::kWords; ++w) value[w] = next.value[w];
      if (i + kThreads < s.n) fetch(after, &next);
      if (i + 2 * kThreads < s.n) after = rows[i + 2 * kThreads].row;
      Tile::Add(shared, columns, words, value, used);
    }
    __syncthreads();
    FlushVectors<kRecordWords, kGroups>(m, reinterpret_cast<std::int64_t*>(view.histograms.slot(s.slot)), s.whole,
                                        tile_index, pass * Tile::kSums, 2 * static_cast<std::uint32_t>(used), cells,
                                        2 * gradients.grad_words, shared);
    __syncthreads();
  }
}

constexpr std::size_t BytesOf(int groups) { return static_cast<std::size_t>(groups) * kGroupWords * 4; }

template <int kRecordWords, int kGroups>
void Launch(HistogramView const& view, ListSource const& source, NarrowRows const& gradients, VectorCells const& cells,
            DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = SumVectorsKernel<kRecordWords, kGroups>;
  AllowShared(kernel, BytesOf(kGroups));
  LaunchNext("summing histograms", kernel, static_cast<unsigned>(limits.processors), kThreads, BytesOf(kGroups), limits,
             stream, view, source, gradients, cells, DeviceHistogramPolicy{}.least_units);
}

template <int kRecordWords>
void LaunchGroups(HistogramView const& view, ListSource const& source, NarrowRows const& gradients,
                  VectorCells const& cells, DeviceLimits const& limits, cudaStream_t stream) {
  if (BytesOf(3) <= limits.block_bytes) {
    Launch<kRecordWords, 3>(view, source, gradients, cells, limits, stream);
  } else {
    Launch<kRecordWords, 1>(view, source, gradients, cells, limits, stream);
  }
}

}  // namespace

bool CanSumVectors(DeviceMatrixView const& m, std::uint32_t symbols, DeviceLimits const& limits) {
  bool const is_wide = m.record_bytes() == 32 || m.record_bytes() == 16;
  return m.dense && m.symbol_bytes == 1 && is_wide && symbols <= kSymbols && BytesOf(1) <= limits.block_bytes;
}

void SumVectors(HistogramView const& view, RowLists const& rows, Node const* nodes, NarrowRows const& gradients,
                VectorCells const& cells, DeviceLimits const& limits, cudaStream_t stream) {
  if (view.matrix.record_bytes() == 32) {
    LaunchGroups<8>(view, {rows, nodes}, gradients, cells, limits, stream);
  } else {
    LaunchGroups<4>(view, {rows, nodes}, gradients, cells, limits, stream);
  }
}

}  // namespace xgbgpu::cuda
