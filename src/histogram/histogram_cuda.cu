// Sums the gradients of a level's nodes per bin on a device, in shared memory where sums fit.
#include <type_traits>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "gradient/gradient_ops.h"
#include "histogram/histogram_cuda.cuh"
#include "histogram/histogram_cuda.h"
#include "histogram/histogram_policy.h"
#include "histogram/sparse_tiles_cuda.h"
#include "matrix/device_matrix_policy.h"
#include "partition/row_feeds.cuh"

namespace xgbgpu::cuda {

namespace {

// A block has all registers of a multiprocessor, so that few blocks merge their sums. Beside other trees, or without
// shared memory for more, it has half of them.
constexpr unsigned kMostThreads = 1024, kLeastThreads = kLeastSumThreads;
constexpr int kCellThreads = 512;
constexpr int kCellResident = 2;

/// The part of 32 records that a pass needs, on its way from device memory to the lanes' registers. Lanes load pieces
/// of at most 16 bytes and pass them on through shared memory.
template <int kWords, int kRecordWords>
class RecordReader {
 public:
  static constexpr int kPieceWords = kWords < 4 ? kWords : 4;
  static constexpr int kPieces = kWords / kPieceWords;  // of a record
  using Load = std::conditional_t<kPieceWords == 4, uint4, std::conditional_t<kPieceWords == 2, uint2, std::uint32_t>>;

  __device__ void Fetch(std::uint8_t const* records, RowIndex row) {
    std::uint32_t const lane = threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      RowIndex const r = __shfl_sync(kAllLanes, row, (p * 32 + lane) / kPieces);
      loads_[p] = reinterpret_cast<Load const*>(records + std::uint64_t{r} * (4 * kRecordWords))[lane % kPieces];
    }
  }
  /// Sets words[i] to word (i xor lane_word) of this lane's record.
  __device__ void Hand(std::uint32_t* staging, std::uint32_t lane_word, std::uint32_t (&words)[kWords]) const {
    std::uint32_t const lane = threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) reinterpret_cast<Load*>(staging)[p * 32 + lane] = loads_[p];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = staging[lane * kWords + (static_cast<std::uint32_t>(i) ^ lane_word)];
    __syncwarp();
  }

 private:
  Load loads_[kPieces];
};

template <typename Sums, typename Feed>
__device__ typename Sums::Value ValueOf(Feed const& feed, RowIndex row, GradientState const* gradient) {
  if constexpr (std::is_same_v<Sums, NarrowSums>) {
    NarrowGradient const narrow = feed.Narrow(row);
    return {narrow.grad, narrow.hess};
  } else {
    GradientSum const wide = QuantiseWide(feed.Wide(row), gradient->grad_scale, gradient->hess_scale);
    if constexpr (std::is_same_v<Sums, WideSums>)
      return wide;
    else
      return {wide.grad, static_cast<std::uint32_t>(static_cast<std::uint64_t>(wide.hess) >> 32)};
  }
}

/// Adds the shared sums to the histogram in `slot` and clears them. whole: no other block adds to the histogram.
/// Neighbouring lanes take the two sums of a cell, so that a warp's additions fill whole sectors.
template <typename Sums, int kSymbolBytes, int kWords>
__device__ void Flush(HistogramView const& view, std::int32_t slot, bool whole, std::uint32_t tile_index,
                      std::uint32_t pass, std::uint32_t* sums) {
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  DeviceMatrixView const& m = view.matrix;
  DeviceTile const tile = m.tile[tile_index];
  // A thread always has the same sum of the same column.
  constexpr std::uint32_t kOfBin = 2 * Tile::kPlane;
  static_assert(kLeastThreads % kOfBin == 0 && sizeof(GradientSum) == 2 * sizeof(std::int64_t));
  std::uint32_t const which = threadIdx.x % 2, column = threadIdx.x / 2 % Tile::kPlane;
  std::uint32_t const first_bin = threadIdx.x / kOfBin, bins_apart = blockDim.x / kOfBin;
  std::uint32_t const of_tile = pass * Tile::kPlane + column;
  std::uint32_t const columns = min(m.tile_columns, m.columns() - tile_index * m.tile_columns);
  std::uint32_t const end = of_tile < columns ? tile.bins : 0;  // end of the added bins
  auto* to = reinterpret_cast<std::int64_t*>(view.histograms.slot(slot) + tile.first_cell +
                                             std::uint64_t{first_bin} * m.tile_columns + of_tile) +
             which;
  std::uint32_t* cell = sums + first_bin * Tile::kCell + column;
#pragma unroll 4
  for (std::uint32_t bin = first_bin; bin < tile.symbols; bin += bins_apart) {
    std::int64_t const sum = Sums::template Take<Tile::kPlane>(cell, which);
    if (bin < end && sum != 0) {
      if (whole) {
        *to = sum;
      } else {
        AtomicAdd(to, sum);
      }
    }
    cell += bins_apart * Tile::kCell;
    to += std::uint64_t{2} * bins_apart * m.tile_columns;
  }
}

/// Sums the rows of a segment and merges the sums: the whole block calls hand_on(whole) before the sums can overflow,
/// with whole = true if the segment ends. The rows of the next step are in flight during the additions of a step.
template <typename Sums, int kSymbolBytes, int kWords, int kRecordWords, typename Feed, typename Source,
          typename HandOn>
__device__ void SumSegment(HistogramView const& view, Source const& source, Segment const& s,
                           std::uint8_t const* records, std::uint32_t* sums, std::uint32_t sum_words,
                           std::uint32_t* staging, std::uint32_t* queue, HandOn&& hand_on) {
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  std::uint32_t const most_steps = Sums::kMaxRows / StepRows();
  typename Tile::Columns const columns{threadIdx.x % 32};
  Feed feed{view.matrix, source, s, queue};
  RecordReader<kWords, kRecordWords> reader;
  Batch batch;
  typename Sums::Value value{};
  bool more = feed.Take(&batch);
  auto const fetch = [&] {
    value = ValueOf<Sums>(feed, batch.row, view.gradient);
    reader.Fetch(records, batch.row);
  };
  if (more) fetch();
  for (bool first = true, any = true; any; first = false) {
    for (std::uint32_t step = 0; more && step < most_steps; ++step) {
      std::uint32_t words[kWords];
      reader.Hand(staging, columns.word(), words);
      typename Sums::Value const own = value;
      bool const in = batch.in;
      std::uint32_t* const to = Feed::kPairs && batch.other ? sums + sum_words : sums;
      more = feed.Take(&batch);
      if (more) fetch();
      if (in) Tile::Add(to, columns, words, own);
    }
    any = __syncthreads_or(more) != 0;
    hand_on(first && !any);
    __syncthreads();
  }
}

/// Words of each warp in shared memory before the sums: 32 records, and a queue.
template <int kRecordWords>
constexpr std::uint32_t kWarpWords = 32 * kRecordWords + kQueueWords;

/// Sums gradients of one format. Every block takes an equal run of units, tile by tile. The sums are zero before and
/// after. The sums of a pair's other path follow after `sum_words`.
template <typename Sums, int kSymbolBytes, int kRecordWords, typename Rows>
__device__ void SumTiles(HistogramView const& view, typename Rows::Source const& source,
                         typename Rows::Jobs const& jobs, std::uint32_t near, std::uint32_t least_units,
                         std::uint32_t sum_words, std::uint32_t* shared) {
  constexpr int kWords = Sums::kPlanes == 2 || kRecordWords == 1 ? kRecordWords : kRecordWords / 2;
  constexpr std::uint32_t kPasses = kRecordWords / kWords;
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  using Jobs = typename Rows::Jobs;
  using Feed = typename Rows::template Feed<kSymbolBytes, kRecordWords>;
  DeviceMatrixView const& m = view.matrix;
  std::uint8_t const* const base = Jobs::Records(m, source);
  std::uint32_t* const staging = shared + threadIdx.x / 32 * kWarpWords<kRecordWords>;
  std::uint32_t* const queue = staging + 32 * kRecordWords;
  std::uint32_t* const sums = shared + blockDim.x / 32 * kWarpWords<kRecordWords>;

  std::uint64_t const units = jobs.all_units;
  std::uint64_t const work = units * m.tiles * kPasses;
  std::uint64_t at, end;
  if (!FindRun(work, least_units, &at, &end)) return;
  while (at < end) {
    auto const tile_pass = static_cast<std::uint32_t>(at / units);
    std::uint32_t const tile_index = tile_pass / kPasses, pass = tile_pass % kPasses;
    std::uint64_t const tile_begin = tile_pass * units;
    std::uint32_t taken = 0;
    Segment segment = jobs.At(near, static_cast<std::uint32_t>(at - tile_begin),
                              static_cast<std::uint32_t>(min(end - tile_begin, units)), kMostSegmentRows, &taken);
    segment.tells = tile_pass == 0;
    at += taken;
    if (segment.n == 0) continue;
    std::uint8_t const* const records = base + tile_index * m.rows * m.record_bytes() + pass * kWords * 4;
    SumSegment<Sums, kSymbolBytes, kWords, kRecordWords, Feed>(
        view, source, segment, records, sums, sum_words, staging, queue, [&](bool whole) {
          whole = whole && segment.whole;
          Flush<Sums, kSymbolBytes, kWords>(view, segment.slot, whole, tile_index, pass, sums);
          if (Feed::kPairs && segment.other_slot != kNoSlot) {
            Flush<Sums, kSymbolBytes, kWords>(view, segment.other_slot, whole, tile_index, pass, sums + sum_words);
          }
        });
    near = Jobs::LoadNear(source);
  }
}

/// Clears the slots for splits of this level's nodes: the slots after the used ones, one a split.
__device__ void ClearNextSlots(HistogramView const& view, std::uint32_t slots) {
  LevelState const& state = *view.state;
  std::uint64_t const end = min(state.leaves + 2 * state.families, slots), cells = view.histograms.cells;
  auto* const to = reinterpret_cast<ulonglong2*>(view.histograms.sums);
  for (std::uint64_t c = state.leaves * cells + blockIdx.x * blockDim.x + threadIdx.x; c < end * cells;
       c += gridDim.x * blockDim.x) {
    to[c] = {0, 0};
  }
}

template <int kSymbolBytes, int kRecordWords, typename Rows>
__global__ void __launch_bounds__(kMostThreads, 1) SumTilesKernel(HistogramView view, typename Rows::Source source,
                                                                  std::uint32_t least_units, std::uint32_t sum_words) {
  using Jobs = typename Rows::Jobs;
  using Feed = typename Rows::template Feed<kSymbolBytes, kRecordWords>;
  extern __shared__ __align__(16) std::uint32_t shared[];
  auto* const sums = reinterpret_cast<uint4*>(shared + blockDim.x / 32 * kWarpWords<kRecordWords>);
  constexpr std::uint32_t kSets = Feed::kPairs ? 2 : 1;
  for (std::uint32_t i = threadIdx.x; i < kSets * sum_words / 4; i += blockDim.x) sums[i] = {0, 0, 0, 0};
  WaitForKernelBefore();
  __syncthreads();
  // In flight together with the format's load.
  std::uint32_t const near = Jobs::LoadNear(source);
  Jobs const jobs{source, view.state->sum_jobs, view.state->sum_units};
  if constexpr (std::is_same_v<Jobs, PathJobs>) {
    if (source.paths.slots != 0) ClearNextSlots(view, source.paths.slots);
  }
  if (view.gradient->format.narrow) {
    SumTiles<NarrowSums, kSymbolBytes, kRecordWords, Rows>(view, source, jobs, near, least_units, sum_words, shared);
  } else if (view.gradient->high_hessians) {
    SumTiles<HighHessianSums, kSymbolBytes, kRecordWords, Rows>(view, source, jobs, near, least_units, sum_words,
                                                                shared);
  } else {
    SumTiles<WideSums, kSymbolBytes, kRecordWords, Rows>(view, source, jobs, near, least_units, sum_words, shared);
  }
}

/// Calls f(cell) for every present value of one of eight neighbouring lanes in a row of a dense matrix, or of CSR.
template <typename F>
__device__ void ForEachCell(DeviceMatrixView const& m, RowIndex row, std::uint32_t lane8, F&& f) {
  if (!m.dense) {
    for (std::uint64_t i = m.row_ptr[row] + lane8; i < m.row_ptr[row + std::uint64_t{1}]; i += 8) f(m.row_cells[i]);
    return;
  }
  for (FeatureIndex column = lane8; column < m.columns(); column += 8) {
    std::uint32_t const t = column / m.tile_columns, of_tile = column % m.tile_columns;
    std::uint8_t const* const at = m.records + (t * m.rows + row) * m.record_bytes() + of_tile * m.symbol_bytes;
    std::uint32_t const symbol = m.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
    if (symbol < m.tile[t].bins) f(m.tile[t].first_cell + std::uint64_t{symbol} * m.tile_columns + of_tile);
  }
}

/// Adds to histograms directly, for sums that do not fit shared memory. L2 carries out the atomics.
__global__ void __launch_bounds__(kCellThreads) SumCellsKernel(HistogramView view, ListSource source) {
  WaitForKernelBefore();
  DeviceMatrixView const& m = view.matrix;
  std::uint32_t const lane = threadIdx.x % 32, units = view.state->sum_units;
  ListJobs const jobs{source, view.state->sum_jobs, units};
  bool const narrow = view.gradient->format.narrow;
  for (std::uint32_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    std::uint32_t taken = 0;
    Segment const s = jobs.At(0, unit, unit + 1, source.lists.unit_rows, &taken);
    RowRecord const* const rows = source.lists.lists[s.list] + s.first;
    GradientSum* const histogram = view.histograms.slot(s.slot);
    for (std::uint32_t base = threadIdx.x / 32 * 32; base < s.n; base += StepRows()) {
      RowRecord const record = rows[min(base + lane, s.n - 1)];
      GradientSum const own = narrow ? GradientSum{record.gradient.grad, record.gradient.hess}
                                     : QuantiseWide(source.lists.gradients[record.row], view.gradient->grad_scale,
                                                    view.gradient->hess_scale);
      for (std::uint32_t r = 0; r < 32; r += 4) {  // four rows at a time, eight lanes each
        std::uint32_t const source = r + lane / 8;
        RowIndex const row = __shfl_sync(kAllLanes, record.row, source);
        std::int64_t const grad = __shfl_sync(kAllLanes, own.grad, source);
        std::int64_t const hess = __shfl_sync(kAllLanes, own.hess, source);
        if (base + source >= s.n) continue;
        ForEachCell(m, row, lane % 8, [&](std::uint64_t cell) {
          AtomicAdd(&histogram[cell].grad, grad);
          AtomicAdd(&histogram[cell].hess, hess);
        });
      }
    }
  }
}

/// Returns the bytes of a tile's sums in either format.
std::size_t TileBytes(DeviceMatrixView const& m, std::uint32_t symbols) {
  return std::max<std::size_t>(std::size_t{symbols} * m.tile_columns * 8,
                               WideTileBytes(symbols, m.tile_columns, m.symbol_bytes));
}

template <int kSymbolBytes, int kRecordWords, typename Rows>
void LaunchTiles(HistogramView const& view, typename Rows::Source const& source, std::uint32_t symbols,
                 DeviceLimits const& limits, cudaStream_t stream) {
  using Feed = typename Rows::template Feed<kSymbolBytes, kRecordWords>;
  auto* const kernel = SumTilesKernel<kSymbolBytes, kRecordWords, Rows>;
  std::size_t const sums = TileBytes(view.matrix, symbols);
  auto const bytes_of = [&](unsigned threads) {
    return (Feed::kPairs ? 2 : 1) * sums + threads / 32 * kWarpWords<kRecordWords> * 4;
  };
  bool const alone = !limits.shared && bytes_of(kMostThreads) <= limits.block_bytes;
  unsigned const threads = alone ? kMostThreads : kLeastThreads;
  auto const resident = static_cast<int>(std::min<std::size_t>(
      kMostThreads / threads, std::max<std::size_t>(1, limits.processor_bytes / (bytes_of(threads) + kBlockOverhead))));
  AllowShared(kernel, limits.block_bytes);
  LaunchNext("summing histograms", kernel, static_cast<unsigned>(limits.processors * resident), threads,
             bytes_of(threads), limits, stream, view, source, DeviceHistogramPolicy{}.least_units,
             static_cast<std::uint32_t>(sums / 4));
}

template <typename Rows>
void LaunchSums(HistogramView const& view, typename Rows::Source const& source, std::uint32_t symbols,
                DeviceLimits const& limits, cudaStream_t stream) {
  constexpr bool kPairs = Rows::template Feed<1, 8>::kPairs;
  std::uint32_t const words = view.matrix.record_bytes() / 4;
  auto const launch = [&](auto symbol_bytes) {
    constexpr int kBytes = decltype(symbol_bytes)::value;
    switch (words) {
      case 8:
        return LaunchTiles<kBytes, 8, Rows>(view, source, symbols, limits, stream);
      case 4:
        return LaunchTiles<kBytes, 4, Rows>(view, source, symbols, limits, stream);
      case 2:
        return LaunchTiles<kBytes, 2, Rows>(view, source, symbols, limits, stream);
      default:
        return LaunchTiles<kBytes, 1, Rows>(view, source, symbols, limits, stream);
    }
  };
  if (kPairs || view.matrix.symbol_bytes == 1) {
    launch(std::integral_constant<int, 1>{});
  } else if constexpr (!kPairs) {  // PairsFitShared
    launch(std::integral_constant<int, 2>{});
  }
}

}  // namespace

bool SumsFitShared(DeviceMatrixView const& m, std::uint32_t symbols, DeviceLimits const& limits) {
  DeviceMatrixPolicy const policy;
  return m.dense && WideTileBytes(symbols, m.tile_columns, m.symbol_bytes) <=
                        std::min(policy.tile_bytes, limits.block_bytes - policy.other_bytes);
}

void SumRows(HistogramView const& view, RowLists const& rows, Node const* nodes, LevelBounds const& bounds,
             DeviceLimits const& limits, cudaStream_t stream) {
  if (view.matrix.sparse_in_tiles()) {
    SumSparseTiles(view, rows, nodes, bounds, limits, stream);
    return;
  }
  if (SumsFitShared(view.matrix, bounds.symbols, limits)) {
    LaunchSums<ListRows>(view, {rows, nodes}, bounds.symbols, limits, stream);
    return;
  }
  LaunchNext("summing histograms", SumCellsKernel, static_cast<unsigned>(limits.processors * kCellResident),
             kCellThreads, 0, limits, stream, view, ListSource{rows, nodes});
}

bool PairsFitShared(DeviceMatrixView const& m, std::uint32_t symbols, DeviceLimits const& limits) {
  std::size_t const of_warps = kMostThreads / 32 * kWarpWords<8> * sizeof(std::uint32_t);
  return m.symbol_bytes == 1 && !limits.shared && 2 * TileBytes(m, symbols) + of_warps <= limits.block_bytes;
}

void SumPaths(HistogramView const& view, RowPaths const& rows, DeviceCategories const& categories,
              LevelBounds const& bounds, PathSums sums, DeviceLimits const& limits, cudaStream_t stream) {
  PathSource const source{rows, categories};
  switch (sums) {
    case PathSums::kTold:
      return LaunchSums<ToldRows>(view, source, bounds.symbols, limits, stream);
    case PathSums::kDivide:
      return LaunchSums<DividedRows<false>>(view, source, bounds.symbols, limits, stream);
    case PathSums::kPairs:
      return LaunchSums<DividedRows<true>>(view, source, bounds.symbols, limits, stream);
  }
}

}  // namespace xgbgpu::cuda
