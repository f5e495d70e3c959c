// Sums the gradients of several outputs per bin on a device, in shared memory.
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "histogram/histogram_cuda.cuh"
#include "histogram/histogram_policy.h"
#include "histogram/vector_histogram_cuda.h"
#include "partition/row_feeds.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr unsigned kThreads = 512;         // with more, registers are short for the loads of the next rows
constexpr std::uint32_t kSymbols = 256;    ///< most of a tile whose symbols have a byte
constexpr std::uint32_t kCellBytes = 256;  ///< a symbol's sums in a group
constexpr std::uint32_t kGroupWords = kSymbols * kCellBytes / 4;
constexpr int kChunkWords = NarrowRows::kChunkWords;
constexpr int kMostGroups = 3;
static_assert(kMostSegmentRows >= kMostNarrowSumRows);

/// The sums of a tile in shared memory: kGroups groups of [symbol][sum][column], of 256 bytes a symbol, so that the
/// place of a cell takes one instruction (LaneColumns), and the sums of a cell have constant places beside it.
/// kUsed: pairs of sums that the pass adds, of the tile's kWords.
template <int kRecordWords, int kGroups, int kUsed>
struct VectorTile {
  static constexpr int kColumns = 4 * kRecordWords;
  static constexpr int kOfGroup = static_cast<int>(kCellBytes) / 4 / kColumns;  ///< sums: 2, or 4 of 16 columns
  static constexpr int kWords = kGroups * kOfGroup / 2;                         ///< pairs of sums that fit
  static constexpr int kUsedGroups = (2 * kUsed + kOfGroup - 1) / kOfGroup;
  static_assert(kUsed <= kWords);
  using Columns = LaneColumns<1, kRecordWords, kCellBytes>;

  /// Adds a row. words[i]: word (i xor columns.word()) of its record. value[w]: two numbers. Half warps that visit the
  /// same columns take neighbouring sums in opposite order.
  static __device__ void Add(std::uint32_t* sums, Columns const& columns, std::uint32_t const (&words)[kRecordWords],
                             std::uint32_t const (&value)[kUsed]) {
    constexpr bool kSwaps = kOfGroup > 2;  // half warps visit the same columns
    bool const swapped = kSwaps && columns.swapped();
    auto* const first = reinterpret_cast<std::uint8_t*>(sums) + (swapped ? 4 * kColumns : 0);
    auto* const second = reinterpret_cast<std::uint8_t*>(sums) + (swapped ? 0 : 4 * kColumns);
    std::uint32_t own[2 * kUsed];
#pragma unroll
    for (int w = 0; w < kUsed; ++w) {
      auto const low = static_cast<std::uint32_t>(static_cast<std::int32_t>(value[w] << 16) >> 16);
      auto const high = static_cast<std::uint32_t>(static_cast<std::int32_t>(value[w]) >> 16);
      own[2 * w] = swapped ? high : low;
      own[2 * w + 1] = swapped ? low : high;
    }
#pragma unroll
    for (int i = 0; i < kRecordWords; ++i) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        std::uint32_t const cell = columns.CellOf(words[i], i, k);
#pragma unroll
        for (int w = 0; w < kUsed; ++w) {
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
template <int kRecordWords, int kWords, int kUsed>
struct VectorRow {
  uint4 record[kRecordWords / 4];
  std::uint32_t value[kUsed];

  __device__ void Fetch(std::uint8_t const* record_bytes, std::uint32_t lane_word, std::uint32_t const* values,
                        std::uint32_t first_word) {
    auto const* const at = reinterpret_cast<uint4 const*>(record_bytes);
#pragma unroll
    for (int h = 0; h < kRecordWords / 4; ++h) record[h] = at[static_cast<std::uint32_t>(h) ^ lane_word / 4];
    if constexpr (kWords % kChunkWords == 0) {  // a pass begins with a chunk
      auto const* const chunks = reinterpret_cast<uint4 const*>(values + NarrowRows::PlaceOf(first_word));
#pragma unroll
      for (int c = 0; c < (kUsed + kChunkWords - 1) / kChunkWords; ++c) {
        uint4 const chunk = chunks[c];
        std::uint32_t const word[] = {chunk.x, chunk.y, chunk.z};
#pragma unroll
        for (int w = 0; w < kChunkWords; ++w) {
          if (c * kChunkWords + w < kUsed) value[c * kChunkWords + w] = word[w];
        }
      }
    } else {
#pragma unroll
      for (int w = 0; w < kUsed; ++w)
        value[w] = values[NarrowRows::PlaceOf(first_word + static_cast<std::uint32_t>(w))];
    }
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

/// What a pass sums: some words of every row, in the columns of one tile.
struct VectorPass {
  std::uint32_t tile;
  std::uint32_t first_word;
  std::uint32_t used;    ///< words
  std::uint32_t weight;  ///< time for a row
  std::uint32_t before;  ///< weight of all passes before
};

/// The passes over a matrix, of kWords words each, and their weights. A pass costs the look at a row beside its
/// additions, which takes the time of about half a word.
template <int kWords>
struct VectorPasses {
  std::uint32_t words, tiles;

  static __device__ std::uint32_t WeightOf(std::uint32_t used) { return 2 * used + 1; }
  __device__ std::uint32_t of_tile() const { return 2 * words + (words + kWords - 1) / kWords; }
  __device__ std::uint32_t all() const { return tiles * of_tile(); }
  /// Returns the pass that `weight` lies in.
  __device__ VectorPass At(std::uint32_t weight) const {
    VectorPass pass{};
    pass.tile = weight / of_tile();
    std::uint32_t const number = (weight - pass.tile * of_tile()) / WeightOf(kWords);
    pass.first_word = number * kWords;
    pass.used = min(std::uint32_t{kWords}, words - pass.first_word);
    pass.weight = WeightOf(pass.used);
    pass.before = pass.tile * of_tile() + number * WeightOf(kWords);
    return pass;
  }
};

/// Adds the shared sums to the histogram, and clears them.
template <typename Tile>
__device__ void FlushVectors(DeviceMatrixView const& m, std::int64_t* histogram, bool whole, VectorPass const& pass,
                             VectorCells const& cells, std::uint32_t grad_values, std::uint32_t* sums) {
  DeviceTile const tile = m.tile[pass.tile];
  std::uint32_t const columns = min(m.tile_columns, m.columns() - pass.tile * m.tile_columns);
  std::uint32_t const of_cell = threadIdx.x % (kCellBytes / 4), column = of_cell % Tile::kColumns;
  constexpr std::uint32_t kApart = kThreads / (kCellBytes / 4);  // symbols
  constexpr std::uint32_t kInFlight = 4;
  for (int g = 0; g < Tile::kUsedGroups; ++g) {
    std::uint32_t const own = static_cast<std::uint32_t>(g * Tile::kOfGroup) + of_cell / Tile::kColumns;
    std::uint32_t const value = 2 * pass.first_word + own;
    bool const is_grad = value < grad_values;
    std::uint32_t const sum = is_grad ? value : cells.outputs + (value - grad_values);
    bool const counts =
        own < 2 * pass.used && column < columns && (is_grad ? value < cells.outputs : sum < cells.sums());
    std::int64_t* const to = histogram + (counts ? cells.first(sum) : 0) + tile.first_cell + column;
    std::uint32_t* const from = sums + g * kGroupWords + of_cell;
    for (std::uint32_t first = threadIdx.x / (kCellBytes / 4); first < tile.symbols; first += kInFlight * kApart) {
      std::int32_t v[kInFlight];
#pragma unroll
      for (std::uint32_t i = 0; i < kInFlight; ++i) {
        std::uint32_t const symbol = min(first + i * kApart, kSymbols - 1);
        v[i] = static_cast<std::int32_t>(from[symbol * (kCellBytes / 4)]);
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kInFlight; ++i) {
        std::uint32_t const symbol = first + i * kApart;
        if (symbol >= tile.symbols || v[i] == 0) continue;
        from[symbol * (kCellBytes / 4)] = 0;
        if (!counts || symbol >= tile.bins) continue;
        std::int64_t* const at = to + std::uint64_t{symbol} * m.tile_columns;
        if (whole) {
          *at = v[i];
        } else {
          AtomicAdd(at, std::int64_t{v[i]});
        }
      }
    }
  }
}

/// Sums the rows of a segment in a pass. The rows of the next step are in flight during the additions of a step.
template <int kRecordWords, int kGroups, int kUsed>
__device__ __noinline__ void SumVectorSegment(HistogramView const& view, ListSource const& source, Segment const& s,
                                              VectorPass const& pass, NarrowRows const& gradients,
                                              VectorCells const& cells) {
  using Tile = VectorTile<kRecordWords, kGroups, kUsed>;
  extern __shared__ __align__(16) std::uint32_t shared[];
  DeviceMatrixView const& m = view.matrix;
  std::uint32_t const record_bytes = m.record_bytes();
  std::uint8_t const* const records = m.records + pass.tile * m.rows * record_bytes;
  std::uint32_t const row_words = gradients.row_words();
  RowRecord const* const rows = source.lists.lists[s.list] + s.first;
  typename Tile::Columns const columns{threadIdx.x % 32};
  VectorRow<kRecordWords, Tile::kWords, kUsed> next;
  auto const fetch = [&](RowIndex row) {
    next.Fetch(records + std::uint64_t{row} * record_bytes, columns.word(),
               gradients.words + std::uint64_t{row} * row_words, pass.first_word);
  };
  RowIndex after = 0;  // the row of the step after the next
  if (threadIdx.x < s.n) fetch(rows[threadIdx.x].row);
  if (threadIdx.x + kThreads < s.n) after = rows[threadIdx.x + kThreads].row;
  for (std::uint32_t i = threadIdx.x; i < s.n; i += kThreads) {
    std::uint32_t words[kRecordWords], value[kUsed];
    next.Hand(columns.word(), words);
#pragma unroll
    for (int w = 0; w < kUsed; ++w) value[w] = next.value[w];
    if (i + kThreads < s.n) fetch(after);
    if (i + 2 * kThreads < s.n) after = rows[i + 2 * kThreads].row;
    Tile::Add(shared, columns, words, value);
  }
  __syncthreads();
  FlushVectors<Tile>(m, reinterpret_cast<std::int64_t*>(view.histograms.slot(s.slot)), s.whole, pass, cells,
                     2 * gradients.grad_words, shared);
  __syncthreads();
}

/// Calls SumVectorSegment for the words of the pass, kMost at most.
template <int kRecordWords, int kGroups, int kMost, typename... Arguments>
__device__ void SumUsedWords(std::uint32_t used, Arguments const&... arguments) {
  if (used == kMost) {
    SumVectorSegment<kRecordWords, kGroups, kMost>(arguments...);
  } else if constexpr (kMost > 1) {
    SumUsedWords<kRecordWords, kGroups, kMost - 1>(used, arguments...);
  }
}

/// Every block takes an equal run of the work: of the units, as often as the passes have weight.
template <int kRecordWords, int kGroups>
__global__ void __launch_bounds__(kThreads, 1)
    SumVectorsKernel(HistogramView view, ListSource source, NarrowRows gradients, VectorCells cells) {
  constexpr int kWords = VectorTile<kRecordWords, kGroups, 1>::kWords;
  extern __shared__ __align__(16) std::uint32_t shared[];
  auto* const clear = reinterpret_cast<uint4*>(shared);
  for (std::uint32_t i = threadIdx.x; i < kGroups * kGroupWords / 4; i += kThreads) clear[i] = {0, 0, 0, 0};
  WaitForKernelBefore();
  __syncthreads();
  ListJobs const jobs{source, view.state->sum_jobs, view.state->sum_units};
  VectorPasses<kWords> const passes{gradients.all_words, view.matrix.tiles};
  std::uint64_t const units = jobs.all_units;
  std::uint64_t at, end;
  if (!FindRun(units * passes.all(), DeviceHistogramPolicy{}.least_units, &at, &end)) return;
  while (at < end) {
    VectorPass const pass = passes.At(static_cast<std::uint32_t>(at / units));
    // A boundary between two blocks lies in one unit, which goes to the second.
    std::uint64_t const begin = pass.before * units, pass_end = min(end, begin + pass.weight * units);
    auto const last = static_cast<std::uint32_t>((pass_end - begin) / pass.weight);
    for (auto unit = static_cast<std::uint32_t>((at - begin) / pass.weight); unit < last;) {
      std::uint32_t taken = 0;
      Segment const s = jobs.At(0, unit, last, kMostNarrowSumRows, &taken);
      unit += taken;
      if (s.n != 0) SumUsedWords<kRecordWords, kGroups, kWords>(pass.used, view, source, s, pass, gradients, cells);
    }
    at = pass_end;
  }
}

constexpr std::size_t BytesOf(int groups) { return static_cast<std::size_t>(groups) * kGroupWords * 4; }

template <int kRecordWords, int kGroups>
void Launch(HistogramView const& view, ListSource const& source, NarrowRows const& gradients, VectorCells const& cells,
            DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = SumVectorsKernel<kRecordWords, kGroups>;
  AllowShared(kernel, BytesOf(kGroups));
  LaunchNext("summing histograms", kernel, static_cast<unsigned>(limits.processors), kThreads, BytesOf(kGroups), limits,
             stream, view, source, gradients, cells);
}

}  // namespace

bool CanSumVectors(DeviceMatrixView const& m, std::uint32_t symbols, DeviceLimits const& limits) {
  bool const is_wide = m.record_bytes() == 32 || m.record_bytes() == 16;
  return m.dense && m.symbol_bytes == 1 && is_wide && symbols <= kSymbols && BytesOf(1) <= limits.block_bytes;
}

void SumVectors(HistogramView const& view, RowLists const& rows, Node const* nodes, NarrowRows const& gradients,
                VectorCells const& cells, DeviceLimits const& limits, cudaStream_t stream) {
  bool const few = BytesOf(kMostGroups) > limits.block_bytes;
  ListSource const source{rows, nodes};
  if (view.matrix.record_bytes() == 32) {
    few ? Launch<8, 1>(view, source, gradients, cells, limits, stream)
        : Launch<8, kMostGroups>(view, source, gradients, cells, limits, stream);
  } else {
    few ? Launch<4, 1>(view, source, gradients, cells, limits, stream)
        : Launch<4, kMostGroups>(view, source, gradients, cells, limits, stream);
  }
}

}  // namespace xgbgpu::cuda
