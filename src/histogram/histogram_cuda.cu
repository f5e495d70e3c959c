#include "core/grid.h"
#include "gradient/gradient_ops.h"
#include "histogram/histogram_cuda.cuh"
#include "histogram/histogram_policy.h"
#include "level/device_tree.h"
#include "matrix/device_matrix_policy.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 512;
constexpr int kResident = 2;  // blocks per multiprocessor at most: what registers allow
constexpr int kWarps = kThreads / 32;
constexpr std::uint32_t kStepRows = 32 * kWarps;  // rows that a block adds in one step

/// A run of units of one sum job: what a block sums before it hands on.
struct Segment {
  SumJob job;
  RowRecord const* rows;
  std::uint32_t n;
  bool whole;  ///< no other block sums rows of this job
};

/// Segment that begins at unit `unit` of the job list and ends at `end` or earlier.
__device__ Segment SegmentAt(DeviceTree const& tree, std::uint32_t unit, std::uint32_t end, std::uint32_t most_rows,
                             std::uint32_t* units) {
  std::uint32_t const jobs = tree.state->sum_jobs;
  std::uint32_t const j = FindJob(jobs, unit, [&](std::uint32_t i) { return tree.sum_jobs[i].first_unit; });
  Segment s;
  s.job = tree.sum_jobs[j];
  std::uint32_t const job_end = j + 1 < jobs ? tree.sum_jobs[j + 1].first_unit : tree.state->sum_units;
  *units = min(min(end, job_end) - unit, most_rows / tree.unit_rows);
  Node const& node = tree.nodes[s.job.node];
  std::uint32_t const first = (unit - s.job.first_unit) * tree.unit_rows;
  s.rows = tree.lists[static_cast<int>(node.list)] + node.first_row + first;
  s.n = min(*units * tree.unit_rows, node.rows - first);
  s.whole = s.n == node.rows;
  return s;
}

template <typename Sums>
__device__ typename Sums::Value ValueOf(DeviceTree const& tree, RowRecord record) {
  if constexpr (Sums::kPlanes == 2) {
    return {record.gradient.grad, record.gradient.hess};
  } else {
    return QuantiseWide(tree.gradients[record.row], tree.gradient->grad_scale, tree.gradient->hess_scale);
  }
}


/// The part of 32 records that a pass needs, on its way from device memory to the lanes' registers: fetched in pieces of
/// at most 16 bytes by as many lanes as that takes, handed over through shared memory.
template <int kWords>
class RecordReader {
 public:
  static constexpr int kPieceWords = kWords < 4 ? kWords : 4;
  static constexpr int kPieces = kWords / kPieceWords;  // per record
  using Load = std::conditional_t<kPieceWords == 4, uint4, std::conditional_t<kPieceWords == 2, uint2, std::uint32_t>>;

  __device__ void Fetch(std::uint8_t const* records, std::uint32_t record_bytes, RowIndex row) {
    std::uint32_t const lane = threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      RowIndex const r = __shfl_sync(kAllLanes, row, (p * 32 + lane) / kPieces);
      loads_[p] = reinterpret_cast<Load const*>(records + std::uint64_t{r} * record_bytes)[lane % kPieces];
    }
  }
  /// words[i] = word (i xor lane_word) of this lane's record.
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

/// Adds the rows of a segment to the shared sums of one pass.
template <typename Sums, int kSymbolBytes, int kWords>
__device__ void AddSegment(DeviceTree const& tree, Segment const& s, std::uint8_t const* records, std::uint32_t* sums,
                           std::uint32_t* staging) {
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  std::uint32_t const lane = threadIdx.x % 32, record_bytes = tree.matrix.record_bytes();
  typename Tile::Columns const columns{lane};
  std::uint32_t const first = threadIdx.x / 32 * 32;
  if (first >= s.n) return;
  auto const record_at = [&](std::uint32_t base) { return s.rows[min(base + lane, s.n - 1)]; };
  RecordReader<kWords> reader;
  RowRecord record = record_at(first), next = record_at(first + kStepRows);
  reader.Fetch(records, record_bytes, record.row);
  typename Sums::Value value = ValueOf<Sums>(tree, record);
  for (std::uint32_t base = first; base < s.n; base += kStepRows) {
    std::uint32_t words[kWords];
    reader.Hand(staging, columns.word, words);
    typename Sums::Value const own = value;
    bool const in = base + lane < s.n;
    // The rows of the next step are on their way while this one's are added.
    reader.Fetch(records, record_bytes, next.row);
    value = ValueOf<Sums>(tree, next);
    next = record_at(base + 2 * kStepRows);
    if (in) Tile::Add(sums, columns, words, own);
  }
}

/// Adds the shared sums to the node's histogram and clears them.
template <typename Sums, int kSymbolBytes, int kWords>
__device__ void Flush(DeviceTree const& tree, Segment const& s, std::uint32_t tile_index, std::uint32_t pass,
                      std::uint32_t* sums) {
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  DeviceMatrixView const& m = tree.matrix;
  DeviceTile const tile = m.tile[tile_index];
  std::uint32_t const first_column = pass * Tile::kPlane;
  std::uint32_t const columns = min(m.tile_columns, m.features - tile_index * m.tile_columns);
  GradientSum* const histogram =
      tree.histograms + static_cast<std::uint64_t>(s.job.slot) * m.cells + tile.first_cell + first_column;
  for (std::uint32_t c = threadIdx.x; c < tile.symbols * Tile::kPlane; c += kThreads) {
    std::uint32_t const bin = c / Tile::kPlane, column = c % Tile::kPlane;
    GradientSum const sum = Sums::template Take<Tile::kPlane>(sums + bin * Tile::kCell + column);
    if (bin == tile.bins || first_column + column >= columns || (sum.grad | sum.hess) == 0) continue;
    GradientSum* const to = histogram + std::uint64_t{bin} * m.tile_columns + column;
    if (s.whole) {
      *to = sum;
    } else {
      AtomicAdd(&to->grad, sum.grad);
      AtomicAdd(&to->hess, sum.hess);
    }
  }
}

/// One format of the gradients: every block takes an equal run of units, tile by tile.
template <typename Sums, int kSymbolBytes, int kRecordWords>
__device__ void SumTiles(DeviceTree const& tree, std::uint32_t least_units, std::uint32_t* shared) {
  constexpr int kWords = Sums::kPlanes == 2 || kRecordWords == 1 ? kRecordWords : kRecordWords / 2;
  constexpr std::uint32_t kPasses = kRecordWords / kWords;
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  DeviceMatrixView const& m = tree.matrix;
  std::uint32_t* const staging = shared + threadIdx.x / 32 * (32 * kRecordWords);
  std::uint32_t* const sums = shared + kWarps * 32 * kRecordWords;

  std::uint64_t const units = tree.state->sum_units;
  std::uint64_t const work = units * m.tiles * kPasses;
  std::uint64_t const blocks = max(std::uint64_t{1}, min(std::uint64_t{gridDim.x}, work / least_units));
  if (blockIdx.x >= blocks) return;
  std::uint64_t at = work * blockIdx.x / blocks;
  std::uint64_t const end = work * (blockIdx.x + 1) / blocks;
  std::uint32_t clear = 0;  // words of the sums that are zero
  while (at < end) {
    auto const tile_pass = static_cast<std::uint32_t>(at / units);
    std::uint32_t const tile_index = tile_pass / kPasses, pass = tile_pass % kPasses;
    std::uint64_t const tile_begin = tile_pass * units;
    std::uint32_t taken = 0;
    Segment const segment = SegmentAt(tree, static_cast<std::uint32_t>(at - tile_begin),
                                      static_cast<std::uint32_t>(min(end - tile_begin, units)), Sums::kMaxRows, &taken);
    at += taken;
    std::uint32_t const words = m.tile[tile_index].symbols * Tile::kCell;
    for (std::uint32_t w = clear + threadIdx.x; w < words; w += kThreads) sums[w] = 0;
    clear = max(clear, words);
    __syncthreads();
    std::uint8_t const* const records = m.records + tile_index * m.rows * m.record_bytes() + pass * kWords * 4;
    AddSegment<Sums, kSymbolBytes, kWords>(tree, segment, records, sums, staging);
    __syncthreads();
    Flush<Sums, kSymbolBytes, kWords>(tree, segment, tile_index, pass, sums);
    __syncthreads();
  }
}

template <int kSymbolBytes, int kRecordWords>
__global__ void __launch_bounds__(kThreads, kResident) SumTilesKernel(DeviceTree tree, std::uint32_t least_units) {
  extern __shared__ std::uint32_t shared[];
  if (tree.gradient->format.narrow) {
    SumTiles<NarrowSums, kSymbolBytes, kRecordWords>(tree, least_units, shared);
  } else {
    SumTiles<WideSums, kSymbolBytes, kRecordWords>(tree, least_units, shared);
  }
}

/// f(cell) for every value that one of eight neighbouring lanes finds in a row; missing values are left out.
template <typename F>
__device__ void ForEachCell(DeviceMatrixView const& m, RowIndex row, std::uint32_t lane8, F&& f) {
  if (!m.dense) {
    for (std::uint64_t i = m.row_ptr[row] + lane8; i < m.row_ptr[row + std::uint64_t{1}]; i += 8) f(m.row_cells[i]);
    return;
  }
  for (FeatureIndex feature = lane8; feature < m.features; feature += 8) {
    std::uint32_t const t = feature / m.tile_columns, column = feature % m.tile_columns;
    std::uint8_t const* const at = m.records + (t * m.rows + row) * m.record_bytes() + column * m.symbol_bytes;
    std::uint32_t const symbol = m.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
    if (symbol < m.tile[t].bins) f(m.tile[t].first_cell + std::uint64_t{symbol} * m.tile_columns + column);
  }
}

/// Sums that do not fit shared memory go to the histograms one by one; the atomics are carried out in L2.
__global__ void __launch_bounds__(kThreads) SumCellsKernel(DeviceTree tree) {
  DeviceMatrixView const& m = tree.matrix;
  std::uint32_t const lane = threadIdx.x % 32, units = tree.state->sum_units;
  bool const narrow = tree.gradient->format.narrow;
  for (std::uint32_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    std::uint32_t taken = 0;
    Segment const s = SegmentAt(tree, unit, unit + 1, tree.unit_rows, &taken);
    GradientSum* const histogram = tree.histograms + static_cast<std::uint64_t>(s.job.slot) * m.cells;
    for (std::uint32_t base = threadIdx.x / 32 * 32; base < s.n; base += kStepRows) {
      RowRecord const record = s.rows[min(base + lane, s.n - 1)];
      GradientSum const own = narrow ? GradientSum{record.gradient.grad, record.gradient.hess}
                                     : ValueOf<WideSums>(tree, record);
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

template <int kSymbolBytes, int kRecordWords>
void LaunchTiles(DeviceTree const& tree, std::uint32_t symbols, DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = SumTilesKernel<kSymbolBytes, kRecordWords>;
  std::uint32_t const columns = tree.matrix.tile_columns;
  std::size_t const sums = std::max<std::size_t>(std::size_t{symbols} * columns * 8,
                                                 WideTileBytes(symbols, columns, kSymbolBytes));
  std::size_t const bytes = sums + kThreads * kRecordWords * 4;
  CheckCuda(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "asking for shared memory");
  DeviceHistogramPolicy const policy;
  int const resident = static_cast<int>(
      std::max<std::size_t>(1, std::min<std::size_t>(kResident, limits.processor_bytes / (bytes + policy.block_overhead))));
  unsigned const blocks = static_cast<unsigned>(limits.processors * resident);
  kernel<<<blocks, kThreads, bytes, stream>>>(tree, policy.least_units);
}

}  // namespace

void SumRows(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream) {
  DeviceMatrixView const& m = tree.matrix;
  std::uint32_t const symbols = bounds.symbols;
  std::size_t const budget = std::min(DeviceMatrixPolicy{}.tile_bytes, limits.block_bytes - DeviceMatrixPolicy{}.other_bytes);
  if (!m.dense || WideTileBytes(symbols, m.tile_columns, m.symbol_bytes) > budget) {
    SumCellsKernel<<<static_cast<unsigned>(limits.processors * 4), kThreads, 0, stream>>>(tree);
  } else if (m.symbol_bytes == 1) {
    switch (m.record_bytes()) {
      case 32: LaunchTiles<1, 8>(tree, symbols, limits, stream); break;
      case 16: LaunchTiles<1, 4>(tree, symbols, limits, stream); break;
      case 8: LaunchTiles<1, 2>(tree, symbols, limits, stream); break;
      default: LaunchTiles<1, 1>(tree, symbols, limits, stream); break;
    }
  } else {
    switch (m.record_bytes()) {
      case 32: LaunchTiles<2, 8>(tree, symbols, limits, stream); break;
      case 16: LaunchTiles<2, 4>(tree, symbols, limits, stream); break;
      case 8: LaunchTiles<2, 2>(tree, symbols, limits, stream); break;
      default: LaunchTiles<2, 1>(tree, symbols, limits, stream); break;
    }
  }
  CheckLaunch("summing histograms");
}

}  // namespace xgbgpu::cuda
