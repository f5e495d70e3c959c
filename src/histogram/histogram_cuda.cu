#include <type_traits>

#include "core/grid.h"
#include "core/launch.h"
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

/// Rows of a segment at most: rows of a queue are told by 16 bits, and narrow sums must not overflow.
constexpr std::uint32_t kMostSegmentRows = 65024;
static_assert(kMostSegmentRows <= NarrowSums::kMaxRows && kMostSegmentRows + 15 < (1 << 16));

/// Rows that a block sums before it hands the sums on: a run of units of one job.
struct Segment {
  std::uint32_t first;  ///< row of the list, or of the store
  std::uint32_t n;
  std::int32_t slot;
  bool whole;  ///< no other block sums rows of this job
  int list;
  std::uint8_t path;
};

/// The jobs of node lists: DeviceTree::sum_jobs.
struct ListJobs {
  DeviceTree const& tree;
  std::uint32_t jobs, all_units;

  /// The segment that begins at unit `unit` and ends at `end` or earlier, with at most `most_rows` rows. Called by the
  /// whole block.
  __device__ Segment At(std::uint32_t unit, std::uint32_t end, std::uint32_t most_rows, std::uint32_t* units) const {
    std::uint32_t const j = FindJobByWarp(jobs, unit, [&](std::uint32_t i) { return tree.sum_jobs[i].first_unit; });
    SumJob const job = tree.sum_jobs[j];
    std::uint32_t const job_end = j + 1 < jobs ? tree.sum_jobs[j + 1].first_unit : all_units;
    *units = min(min(end, job_end) - unit, most_rows / tree.unit_rows);
    Node const& node = tree.nodes[job.node];
    std::uint32_t const offset = (unit - job.first_unit) * tree.unit_rows;
    Segment s{};
    s.list = static_cast<int>(node.list);
    s.first = node.first_row + offset;
    s.n = min(*units * tree.unit_rows, node.rows - offset);
    s.slot = job.slot;
    s.whole = s.n == node.rows;
    return s;
  }
};

/// The jobs of paths: RowPaths::jobs.
struct PathJobs {
  DeviceTree const& tree;
  std::uint32_t jobs, all_units;

  __device__ Segment At(std::uint32_t unit, std::uint32_t end, std::uint32_t most_rows, std::uint32_t* units) const {
    std::uint32_t const j = FindJobByWarp(jobs, unit, [&](std::uint32_t i) { return tree.paths.jobs[i].first_unit; });
    PathJob const job = tree.paths.jobs[j];
    std::uint32_t const job_end = j + 1 < jobs ? tree.paths.jobs[j + 1].first_unit : all_units;
    *units = min(min(end, job_end) - unit, most_rows / job.unit_rows);
    std::uint32_t const offset = (unit - job.first_unit) * job.unit_rows;
    Segment s{};
    s.first = job.first_row + offset;
    s.n = min(*units * job.unit_rows, job.rows - offset);
    s.slot = job.slot;
    s.whole = s.n == job.rows;
    s.path = static_cast<std::uint8_t>(job.path);
    return s;
  }
};

/// Up to 32 rows on their way to a warp, one per lane.
struct Batch {
  RowIndex row;  ///< of the records; valid in every lane
  bool in;       ///< this lane's row counts
  NarrowGradient narrow;
};

/// Hands out the rows of a list. The records of the batch after the next are on their way.
class ListFeed {
 public:
  __device__ ListFeed(DeviceTree const& tree, Segment const& s, std::uint32_t*)
      : rows_{tree.lists[s.list] + s.first}, gradients_{tree.gradients}, n_{s.n}, at_{threadIdx.x / 32 * 32} {
    if (at_ < n_) next_ = Load(at_);
  }
  /// False, in the whole warp, when there are no more.
  __device__ bool Take(Batch* batch) {
    if (at_ >= n_) return false;
    *batch = {next_.row, at_ + threadIdx.x % 32 < n_, next_.gradient};
    at_ += kStepRows;
    if (at_ < n_) next_ = Load(at_);
    return true;
  }
  __device__ GradientPair Wide(RowIndex row) const { return gradients_[row]; }

 private:
  __device__ RowRecord Load(std::uint32_t base) const { return rows_[min(base + threadIdx.x % 32, n_ - 1)]; }

  RowRecord const* rows_;
  GradientPair const* gradients_;
  std::uint32_t n_, at_;
  RowRecord next_;
};

/// Hands out the rows of one path among those of a group, or all of them. A lane looks at 16 paths at once (4 if the
/// segment is small), and the next ones are on their way; rows that match wait in a queue until they fill the warp.
class PathFeed {
 public:
  static constexpr std::uint32_t kQueue = (512 + 32) / 2;  ///< words of shared memory per warp: two rows in each

  __device__ PathFeed(DeviceTree const& tree, Segment const& s, std::uint32_t* queue)
      : store_{tree.paths.store},
        paths_{tree.paths.path},
        queue_{reinterpret_cast<std::uint16_t*>(queue)},
        base_{s.first & ~15U},
        first_{s.first},
        end_{s.first + s.n},
        pattern_{s.path * 0x01010101U},
        lane_rows_{s.n < kWarps * 512 ? 4U : 16U} {
    if (paths_ == nullptr) {
      at_ = first_ + threadIdx.x / 32 * 32;
    } else {
      at_ = base_ + threadIdx.x / 32 * (32 * lane_rows_);
      next_ = Fetch();
    }
  }
  __device__ bool Take(Batch* batch) {
    std::uint32_t const lane = threadIdx.x % 32;
    if (paths_ == nullptr) {
      if (at_ >= end_) return false;
      Give(min(at_ + lane, end_ - 1), at_ + lane < end_, batch);
      at_ += kStepRows;
      return true;
    }
    while (queued_ < 32 && at_ < end_) Look();
    if (queued_ == 0) return false;
    std::uint32_t const taken = min(queued_, 32U);
    queued_ -= taken;
    RowIndex const row = base_ + queue_[queued_ + min(lane, taken - 1)];
    __syncwarp();  // before the queue is written again
    Give(row, lane < taken, batch);
    return true;
  }
  __device__ GradientPair Wide(RowIndex row) const {
    return store_.wide == nullptr ? GradientPair{0, 0} : store_.wide[row];
  }

 private:
  __device__ void Give(RowIndex row, bool in, Batch* batch) const {
    *batch = {row, in, store_.narrow == nullptr ? NarrowGradient{0, 0} : store_.narrow[row]};
  }
  __device__ uint4 Fetch() const {
    std::uint32_t const row = at_ + threadIdx.x % 32 * lane_rows_;
    if (row >= end_) return {0, 0, 0, 0};
    if (lane_rows_ == 4) return {*reinterpret_cast<std::uint32_t const*>(paths_ + row), 0, 0, 0};
    return *reinterpret_cast<uint4 const*>(paths_ + row);
  }
  /// Bit i of the result: byte i of the word is the path.
  __device__ std::uint32_t Matches(std::uint32_t word) const {
    std::uint32_t const ones = __vcmpeq4(word, pattern_) & 0x01010101U;
    return (ones * 0x01020408U) >> 24 & 0xFU;  // gathers the bits 0, 8, 16 and 24
  }
  /// Queues what matches among the lane's next paths.
  __device__ void Look() {
    std::uint32_t const lane = threadIdx.x % 32, row = at_ + lane * lane_rows_;
    uint4 const now = next_;
    at_ += kWarps * 32 * lane_rows_;
    next_ = Fetch();
    std::uint32_t mask = Matches(now.x);
    if (lane_rows_ == 16) mask |= Matches(now.y) << 4 | Matches(now.z) << 8 | Matches(now.w) << 12;
    // Rows before the segment and after it share words with its ends.
    if (row < first_) mask &= first_ - row < 16 ? ~0U << (first_ - row) : 0;
    if (row + lane_rows_ > end_) mask &= row < end_ ? (1U << (end_ - row)) - 1 : 0;
    std::uint32_t const count = __popc(mask);
    std::uint32_t up_to = count;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      std::uint32_t const other = __shfl_up_sync(kAllLanes, up_to, d);
      if (lane >= static_cast<std::uint32_t>(d)) up_to += other;
    }
    std::uint32_t place = queued_ + up_to - count;
    for (; mask != 0; mask &= mask - 1) {
      queue_[place++] = static_cast<std::uint16_t>(row - base_ + __ffs(static_cast<int>(mask)) - 1);
    }
    queued_ += __shfl_sync(kAllLanes, up_to, 31);
    __syncwarp();
  }

  RowStore store_;
  std::uint8_t const* paths_;
  std::uint16_t* queue_;
  std::uint32_t base_, first_, end_;
  std::uint32_t pattern_;
  std::uint32_t lane_rows_;
  std::uint32_t at_;
  uint4 next_{};
  std::uint32_t queued_{0};
};

/// The part of 32 records that a pass needs, on its way from device memory to the lanes' registers: fetched in pieces
/// of at most 16 bytes by as many lanes as that takes, handed over through shared memory.
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

template <typename Sums, typename Feed>
__device__ typename Sums::Value ValueOf(Feed const& feed, Batch const& batch, GradientState const* gradient) {
  if constexpr (Sums::kPlanes == 2) {
    return {batch.narrow.grad, batch.narrow.hess};
  } else {
    return QuantiseWide(feed.Wide(batch.row), gradient->grad_scale, gradient->hess_scale);
  }
}

/// Adds the rows of a segment to the shared sums of one pass. The rows of the next step are on their way while this
/// one's are added.
template <typename Sums, int kSymbolBytes, int kWords, typename Feed>
__device__ void AddSegment(DeviceTree const& tree, Segment const& s, std::uint8_t const* records, std::uint32_t* sums,
                           std::uint32_t* staging, std::uint32_t* queue) {
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  std::uint32_t const record_bytes = tree.matrix.record_bytes();
  typename Tile::Columns const columns{threadIdx.x % 32};
  Feed feed{tree, s, queue};
  RecordReader<kWords> reader;
  Batch batch;
  bool more = feed.Take(&batch);
  if (!more) return;
  reader.Fetch(records, record_bytes, batch.row);
  typename Sums::Value value = ValueOf<Sums>(feed, batch, tree.gradient);
  while (more) {
    std::uint32_t words[kWords];
    reader.Hand(staging, columns.word, words);
    typename Sums::Value const own = value;
    bool const in = batch.in;
    more = feed.Take(&batch);
    if (more) {
      reader.Fetch(records, record_bytes, batch.row);
      value = ValueOf<Sums>(feed, batch, tree.gradient);
    }
    if (in) Tile::Add(sums, columns, words, own);
  }
}

/// Adds the shared sums to the node's histogram and clears them. Neighbouring lanes take the two sums of a cell: the
/// additions of a warp fill whole sectors, and device memory counts sectors.
template <typename Sums, int kSymbolBytes, int kWords>
__device__ void Flush(DeviceTree const& tree, Segment const& s, std::uint32_t tile_index, std::uint32_t pass,
                      std::uint32_t* sums) {
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  DeviceMatrixView const& m = tree.matrix;
  DeviceTile const tile = m.tile[tile_index];
  std::uint32_t const first_column = pass * Tile::kPlane;
  std::uint32_t const columns = min(m.tile_columns, m.features - tile_index * m.tile_columns);
  static_assert(sizeof(GradientSum) == 2 * sizeof(std::int64_t));
  auto* const histogram = reinterpret_cast<std::int64_t*>(
      tree.histograms + static_cast<std::uint64_t>(s.slot) * m.cells + tile.first_cell + first_column);
  for (std::uint32_t i = threadIdx.x; i < 2 * tile.symbols * Tile::kPlane; i += kThreads) {
    std::uint32_t const which = i % 2, column = i / 2 % Tile::kPlane, bin = i / 2 / Tile::kPlane;
    std::int64_t const sum = Sums::template Take<Tile::kPlane>(sums + bin * Tile::kCell + column, which);
    if (bin == tile.bins || first_column + column >= columns || sum == 0) continue;
    std::int64_t* const to = histogram + 2 * (std::uint64_t{bin} * m.tile_columns + column) + which;
    if (s.whole) {
      *to = sum;
    } else {
      AtomicAdd(to, sum);
    }
  }
}

/// Words of a block's shared memory before its sums: for each warp 32 records, and a queue.
template <int kRecordWords>
constexpr std::uint32_t kWarpWords = (32 * kRecordWords + PathFeed::kQueue) * kWarps;

/// One format of the gradients: every block takes an equal run of units, tile by tile. The sums are zero, and again
/// when this returns.
template <typename Sums, int kSymbolBytes, int kRecordWords, typename Jobs, typename Feed>
__device__ void SumTiles(DeviceTree const& tree, Jobs const& jobs, std::uint32_t least_units, std::uint32_t* shared) {
  constexpr int kWords = Sums::kPlanes == 2 || kRecordWords == 1 ? kRecordWords : kRecordWords / 2;
  constexpr std::uint32_t kPasses = kRecordWords / kWords;
  using Tile = TileSums<Sums, kSymbolBytes, kWords>;
  DeviceMatrixView const& m = tree.matrix;
  std::uint8_t const* const base = std::is_same_v<Feed, PathFeed> ? tree.paths.store.records : m.records;
  std::uint32_t const warp = threadIdx.x / 32;
  std::uint32_t* const staging = shared + warp * (32 * kRecordWords);
  std::uint32_t* const queue = shared + kWarps * 32 * kRecordWords + warp * PathFeed::kQueue;
  std::uint32_t* const sums = shared + kWarpWords<kRecordWords>;

  std::uint64_t const units = jobs.all_units;
  std::uint64_t const work = units * m.tiles * kPasses;
  std::uint64_t const blocks = max(std::uint64_t{1}, min(std::uint64_t{gridDim.x}, work / least_units));
  if (blockIdx.x >= blocks) return;
  std::uint64_t at = work * blockIdx.x / blocks;
  std::uint64_t const end = work * (blockIdx.x + 1) / blocks;
  while (at < end) {
    auto const tile_pass = static_cast<std::uint32_t>(at / units);
    std::uint32_t const tile_index = tile_pass / kPasses, pass = tile_pass % kPasses;
    std::uint64_t const tile_begin = tile_pass * units;
    std::uint32_t taken = 0;
    Segment const segment = jobs.At(static_cast<std::uint32_t>(at - tile_begin),
                                    static_cast<std::uint32_t>(min(end - tile_begin, units)), kMostSegmentRows, &taken);
    at += taken;
    std::uint8_t const* const records = base + tile_index * m.rows * m.record_bytes() + pass * kWords * 4;
    AddSegment<Sums, kSymbolBytes, kWords, Feed>(tree, segment, records, sums, staging, queue);
    __syncthreads();
    Flush<Sums, kSymbolBytes, kWords>(tree, segment, tile_index, pass, sums);
    __syncthreads();
  }
}

template <int kSymbolBytes, int kRecordWords, typename Jobs, typename Feed>
__global__ void __launch_bounds__(kThreads, kResident)
    SumTilesKernel(DeviceTree tree, std::uint32_t least_units, std::uint32_t sum_words) {
  extern __shared__ __align__(16) std::uint32_t shared[];
  auto* const sums = reinterpret_cast<uint4*>(shared + kWarpWords<kRecordWords>);
  for (std::uint32_t i = threadIdx.x; i < sum_words / 4; i += kThreads) sums[i] = {0, 0, 0, 0};
  WaitForKernelBefore();
  __syncthreads();
  Jobs const jobs{tree, tree.state->sum_jobs, tree.state->sum_units};  // on their way together with the format
  if (tree.gradient->format.narrow) {
    SumTiles<NarrowSums, kSymbolBytes, kRecordWords, Jobs, Feed>(tree, jobs, least_units, shared);
  } else {
    SumTiles<WideSums, kSymbolBytes, kRecordWords, Jobs, Feed>(tree, jobs, least_units, shared);
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
  WaitForKernelBefore();
  DeviceMatrixView const& m = tree.matrix;
  std::uint32_t const lane = threadIdx.x % 32, units = tree.state->sum_units;
  ListJobs const jobs{tree, tree.state->sum_jobs, units};
  bool const narrow = tree.gradient->format.narrow;
  for (std::uint32_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    std::uint32_t taken = 0;
    Segment const s = jobs.At(unit, unit + 1, tree.unit_rows, &taken);
    RowRecord const* const rows = tree.lists[s.list] + s.first;
    GradientSum* const histogram = tree.histograms + static_cast<std::uint64_t>(s.slot) * m.cells;
    for (std::uint32_t base = threadIdx.x / 32 * 32; base < s.n; base += kStepRows) {
      RowRecord const record = rows[min(base + lane, s.n - 1)];
      GradientSum const own =
          narrow ? GradientSum{record.gradient.grad, record.gradient.hess}
                 : QuantiseWide(tree.gradients[record.row], tree.gradient->grad_scale, tree.gradient->hess_scale);
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

template <int kSymbolBytes, int kRecordWords, typename Jobs, typename Feed>
void LaunchTiles(DeviceTree const& tree, std::uint32_t symbols, DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = SumTilesKernel<kSymbolBytes, kRecordWords, Jobs, Feed>;
  std::uint32_t const columns = tree.matrix.tile_columns;
  std::size_t const sums =
      std::max<std::size_t>(std::size_t{symbols} * columns * 8, WideTileBytes(symbols, columns, kSymbolBytes));
  std::size_t const bytes = sums + kWarpWords<kRecordWords> * 4;
  // The limit belongs to the kernel, not to the launch: every trainer of the process sets the same.
  DeviceMatrixPolicy const matrix;
  std::size_t const most_bytes = std::min(limits.block_bytes, matrix.tile_bytes + matrix.other_bytes);
  CheckCuda(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(most_bytes)),
            "asking for shared memory");
  DeviceHistogramPolicy const policy;
  int const resident = static_cast<int>(std::max<std::size_t>(
      1, std::min<std::size_t>(kResident, limits.processor_bytes / (bytes + policy.block_overhead))));
  unsigned const blocks = static_cast<unsigned>(limits.processors * resident);
  LaunchNext("summing histograms", kernel, blocks, kThreads, bytes, limits, stream, tree, policy.least_units,
             static_cast<std::uint32_t>(sums / 4));
}

template <typename Jobs, typename Feed>
void LaunchSums(DeviceTree const& tree, std::uint32_t symbols, DeviceLimits const& limits, cudaStream_t stream) {
  std::uint32_t const words = tree.matrix.record_bytes() / 4;
  auto const launch = [&](auto symbol_bytes) {
    constexpr int kBytes = decltype(symbol_bytes)::value;
    switch (words) {
      case 8:
        return LaunchTiles<kBytes, 8, Jobs, Feed>(tree, symbols, limits, stream);
      case 4:
        return LaunchTiles<kBytes, 4, Jobs, Feed>(tree, symbols, limits, stream);
      case 2:
        return LaunchTiles<kBytes, 2, Jobs, Feed>(tree, symbols, limits, stream);
      default:
        return LaunchTiles<kBytes, 1, Jobs, Feed>(tree, symbols, limits, stream);
    }
  };
  if (tree.matrix.symbol_bytes == 1) {
    launch(std::integral_constant<int, 1>{});
  } else {
    launch(std::integral_constant<int, 2>{});
  }
}

}  // namespace

bool SumsFitShared(DeviceMatrixView const& m, std::uint32_t symbols, DeviceLimits const& limits) {
  DeviceMatrixPolicy const policy;
  return m.dense && WideTileBytes(symbols, m.tile_columns, m.symbol_bytes) <=
                        std::min(policy.tile_bytes, limits.block_bytes - policy.other_bytes);
}

void SumRows(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream) {
  if (SumsFitShared(tree.matrix, bounds.symbols, limits)) {
    LaunchSums<ListJobs, ListFeed>(tree, bounds.symbols, limits, stream);
    return;
  }
  LaunchNext("summing histograms", SumCellsKernel, static_cast<unsigned>(limits.processors * kResident), kThreads, 0,
             limits, stream, tree);
}

void SumPaths(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchSums<PathJobs, PathFeed>(tree, bounds.symbols, limits, stream);
}

}  // namespace xgbgpu::cuda
