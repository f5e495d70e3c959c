/// The rows of the histogram kernel and their way to its warps: from node lists, or by paths.
#ifndef XGBGPU_PARTITION_ROW_FEEDS_CUH_
#define XGBGPU_PARTITION_ROW_FEEDS_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/grid.h"
#include "cuda/warp_search.cuh"
#include "partition/partition_cuda.h"
#include "partition/path_jobs.cuh"

namespace xgbgpu::cuda {

/// Returns the rows that a block adds in one step: one for each lane.
__device__ inline std::uint32_t StepRows() { return blockDim.x; }

/// Most rows of a segment: 16 warps have 2^16 places each (PathFeed), and up to 15 places are before the segment.
constexpr std::uint32_t kMostSegmentRows = (1 << 20) - 16;
constexpr std::uint32_t kLeastSumThreads = 512;  ///< threads of a summing block
static_assert(kMostSegmentRows + 15 < (1 << 16) * (kLeastSumThreads / 32));
static_assert(kMostSegmentRows >= 2 * kMostUnitRows);  // at least a unit

/// Rows that a block reads for one job: one run of its units.
struct Segment {
  std::uint32_t first;  ///< row of the list, or of the store
  std::uint32_t n;      ///< may be 0
  std::int32_t slot;
  bool whole;  ///< no other block sums rows of the job
  int list;
  std::uint32_t path;
  std::uint32_t group;  ///< of the path
  // Members for DividingFeed only:
  std::uint32_t other_path;
  std::int32_t other_slot;  ///< kNoSlot: one path only
  bool tells;               ///< no other block writes paths of the rows
};

/// The rows of lists.
struct ListSource {
  RowLists lists;
  Node const* nodes;
};

/// The rows of paths.
struct PathSource {
  RowPaths paths;
  DeviceCategories categories;  ///< of the splits that divide the rows
};

/// The jobs of node lists: RowLists::sum_jobs.
struct ListJobs {
  ListSource const& source;
  std::uint32_t jobs, all_units;

  /// Loads data for the search for a job that depend on nothing else.
  static __device__ std::uint32_t LoadNear(ListSource const&) { return 0; }
  static __device__ std::uint8_t const* Records(DeviceMatrixView const& matrix, ListSource const&) {
    return matrix.records;
  }
  /// Returns the segment that begins at unit `unit` and ends at `end` or earlier, with at most `most_rows` rows. The
  /// whole block calls it with the result of LoadNear.
  __device__ Segment At(std::uint32_t, std::uint32_t unit, std::uint32_t end, std::uint32_t most_rows,
                        std::uint32_t* units) const {
    std::uint32_t const j =
        FindJobByWarp(jobs, unit, [&](std::uint32_t i) { return source.lists.sum_jobs[i].first_unit; });
    SumJob const job = source.lists.sum_jobs[j];
    std::uint32_t const job_end = j + 1 < jobs ? source.lists.sum_jobs[j + 1].first_unit : all_units;
    *units = min(min(end, job_end) - unit, most_rows / source.lists.unit_rows);
    Node const& node = source.nodes[job.node];
    std::uint32_t const offset = (unit - job.first_unit) * source.lists.unit_rows;
    Segment s{};
    s.list = static_cast<int>(node.list);
    s.first = node.first_row + offset;
    s.n = min(*units * source.lists.unit_rows, node.rows - offset);
    s.slot = job.slot;
    s.whole = s.n == node.rows && !source.lists.of_page;
    return s;
  }
};

/// The jobs of paths: RowPaths::jobs.
struct PathJobs {
  PathSource const& source;
  std::uint32_t jobs, all_units;

  /// Returns the first unit of a job for each lane. There is room for 32 jobs.
  static __device__ std::uint32_t LoadNear(PathSource const& source) {
    return source.paths.jobs[threadIdx.x % kNearJobs].first_unit;
  }
  static __device__ std::uint8_t const* Records(DeviceMatrixView const&, PathSource const& source) {
    return source.paths.store.records;
  }
  __device__ Segment At(std::uint32_t near, std::uint32_t unit, std::uint32_t end, std::uint32_t most_rows,
                        std::uint32_t* units) const {
    std::uint32_t j;
    if (jobs <= kNearJobs) {
      bool const up_to = threadIdx.x % 32 < jobs && near <= unit;
      j = 31 - __clz(static_cast<int>(__ballot_sync(kAllLanes, up_to)));
    } else {
      j = FindJobByWarp(jobs, unit, [&](std::uint32_t i) { return source.paths.jobs[i].first_unit; });
    }
    PathJob const job = source.paths.jobs[j];
    std::uint32_t const job_end = j + 1 < jobs ? source.paths.jobs[j + 1].first_unit : all_units;
    auto const past_spare = [&](std::uint32_t u) { return max(u - job.first_unit, job.spare_units) - job.spare_units; };
    std::uint32_t const to = min(end, job_end), first_unit = past_spare(unit), all = past_spare(to) - first_unit;
    std::uint32_t const taken = min(all, most_rows / job.unit_rows);
    *units = to - unit - (all - taken);
    std::uint32_t const offset = first_unit * job.unit_rows;
    Segment s{};
    s.first = job.first_row + offset;
    s.n = min(taken * job.unit_rows, job.rows - offset);
    s.slot = job.slot;
    s.whole = s.n == job.rows;
    s.path = job.path;
    s.group = job.group;
    s.other_path = job.other_path;
    s.other_slot = job.other_slot;
    return s;
  }
};

/// Finds the block's run of `work` units. All blocks have equal runs of at least `least_units`. Returns false if the
/// block has none.
__device__ inline bool FindRun(std::uint64_t work, std::uint32_t least_units, std::uint64_t* begin,
                               std::uint64_t* end) {
  std::uint64_t const blocks = max(std::uint64_t{1}, min(std::uint64_t{gridDim.x}, work / least_units));
  if (blockIdx.x >= blocks) return false;
  *begin = work * blockIdx.x / blocks;
  *end = work * (blockIdx.x + 1) / blocks;
  return true;
}

/// Up to 32 rows on their way to a warp, one per lane.
struct Batch {
  RowIndex row;  ///< number of the records; valid in every lane
  bool in;       ///< this lane's row counts
  bool other;    ///< the row belongs to the segment's other path
};

/// Iterates over the rows of a list. The records of the batch after the next are in flight.
class ListFeed {
 public:
  static constexpr bool kPairs = false;

  __device__ ListFeed(DeviceMatrixView const&, ListSource const& source, Segment const& s, std::uint32_t*)
      : rows_{source.lists.lists[s.list] + s.first},
        gradients_{source.lists.gradients},
        n_{s.n},
        at_{threadIdx.x / 32 * 32} {
    if (at_ < n_) next_ = Load(at_);
  }
  /// Returns false, in the whole warp, after the last rows.
  __device__ bool Take(Batch* batch) {
    if (at_ >= n_) return false;
    *batch = {next_.row, at_ + threadIdx.x % 32 < n_, false};
    narrow_ = next_.gradient;
    at_ += StepRows();
    if (at_ < n_) next_ = Load(at_);
    return true;
  }
  /// Returns the gradient of a row of the last batch, in the format of the tree.
  __device__ NarrowGradient Narrow(RowIndex) const { return narrow_; }
  __device__ GradientPair Wide(RowIndex row) const { return gradients_[row]; }

 private:
  __device__ RowRecord Load(std::uint32_t base) const { return rows_[min(base + threadIdx.x % 32, n_ - 1)]; }

  RowRecord const* rows_;
  GradientPair const* gradients_;
  std::uint32_t n_, at_;
  RowRecord next_;
  NarrowGradient narrow_;
};

constexpr std::uint32_t kQueueWords =
    (512 + 32) / 2;  ///< shared memory per warp, with two rows in each word (PathFeed)

/// Returns the row's gradient in the wide format; 0 if the store has no room for wide gradients (RowPaths::next_wide).
__device__ inline GradientPair WideOf(RowStore const& rows, RowIndex row) {
  return rows.wide == nullptr ? GradientPair{0, 0} : rows.wide[row];
}

/// Iterates over the rows of one path of a group, or over all rows. A lane compares 16 paths at once (4 in a small
/// segment), with the next paths in flight. Matching rows wait in a queue until they fill the warp. The queue has their
/// places among all rows that the warp reads, a piece of each round of the block's warps: 16 bits suffice.
class PathFeed {
 public:
  static constexpr bool kPairs = false;

  __device__ PathFeed(DeviceMatrixView const&, PathSource const& source, Segment const& s, std::uint32_t* queue)
      : store_{source.paths.store},
        paths_{source.paths.path},
        queue_{reinterpret_cast<std::uint16_t*>(queue)},
        first_{s.first},
        end_{s.first + s.n},
        pattern_{(source.paths.first + s.path) * 0x01010101U},
        lane_bits_{paths_ == nullptr       ? 0
                   : s.n < StepRows() * 16 ? 2
                                           : 4},
        base_{(paths_ == nullptr ? s.first : s.first & ~15U) + (threadIdx.x / 32 << PieceBits())} {
    if (paths_ != nullptr) fetched_ = Fetch();
  }
  __device__ bool Take(Batch* batch) {
    std::uint32_t const lane = threadIdx.x % 32;
    if (paths_ == nullptr) {
      std::uint32_t const row = NextRow() + lane;
      if (row - lane >= end_) return false;
      *batch = {min(row, end_ - 1), row < end_, false};
      place_ += 32;
      return true;
    }
    while (queued_ < 32 && NextRow() < end_) Look();
    if (queued_ == 0) return false;
    std::uint32_t const taken = min(queued_, 32U);
    queued_ -= taken;
    RowIndex const row = RowAt(queue_[queued_ + min(lane, taken - 1)]);
    __syncwarp();  // the queue is written again next
    *batch = {row, lane < taken, false};
    return true;
  }
  __device__ NarrowGradient Narrow(RowIndex row) const { return store_.narrow[row]; }
  __device__ GradientPair Wide(RowIndex row) const { return WideOf(store_, row); }

 private:
  __device__ int PieceBits() const { return lane_bits_ + 5; }
  __device__ std::uint32_t RowAt(std::uint32_t place) const {
    std::uint32_t const piece = place >> PieceBits();
    return base_ + piece * (StepRows() << lane_bits_) + (place - (piece << PieceBits()));
  }
  /// Returns the row that the first lane reads next.
  __device__ std::uint32_t NextRow() const { return base_ + (place_ >> PieceBits()) * (StepRows() << lane_bits_); }
  __device__ uint4 Fetch() const {
    std::uint32_t const row = NextRow() + (threadIdx.x % 32 << lane_bits_);
    if (row >= end_) return {0, 0, 0, 0};
    if (lane_bits_ == 2) return {*reinterpret_cast<std::uint32_t const*>(paths_ + row), 0, 0, 0};
    return *reinterpret_cast<uint4 const*>(paths_ + row);
  }
  /// Returns a mask: bit i is set if byte i of the word equals the path.
  __device__ std::uint32_t Matches(std::uint32_t word) const {
    std::uint32_t const ones = __vcmpeq4(word, pattern_) & 0x01010101U;
    return (ones * 0x01020408U) >> 24 & 0xFU;  // gathers bits 0, 8, 16 and 24
  }
  /// Queues the matching rows among the lane's next paths.
  __device__ void Look() {
    std::uint32_t const lane = threadIdx.x % 32, row = NextRow() + (lane << lane_bits_);
    std::uint32_t const place = place_ + (lane << lane_bits_);
    uint4 const now = fetched_;
    place_ += 1U << PieceBits();
    fetched_ = Fetch();
    std::uint32_t mask = Matches(now.x);
    if (lane_bits_ == 4) mask |= Matches(now.y) << 4 | Matches(now.z) << 8 | Matches(now.w) << 12;
    // Rows outside the segment share words with its ends.
    if (row < first_) mask &= first_ - row < 16 ? ~0U << (first_ - row) : 0;
    if (row + (1U << lane_bits_) > end_) mask &= row < end_ ? (1U << (end_ - row)) - 1 : 0;
    std::uint32_t const count = __popc(mask);
    std::uint32_t up_to = count;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      std::uint32_t const other = __shfl_up_sync(kAllLanes, up_to, d);
      if (lane >= static_cast<std::uint32_t>(d)) up_to += other;
    }
    std::uint32_t end = queued_ + up_to - count;
    for (; mask != 0; mask &= mask - 1) {
      queue_[end++] = static_cast<std::uint16_t>(place + __ffs(static_cast<int>(mask)) - 1);
    }
    queued_ += __shfl_sync(kAllLanes, up_to, 31);
    __syncwarp();
  }

  RowStore store_;
  std::uint8_t const* paths_;
  std::uint16_t* queue_;  ///< places
  std::uint32_t first_, end_;
  std::uint32_t pattern_;
  int lane_bits_;           ///< a lane reads 1 << lane_bits_ rows at a time
  std::uint32_t base_;      ///< the warp's first row
  std::uint32_t place_{0};  ///< of the next row of the first lane
  uint4 fetched_{};
  std::uint32_t queued_{0};
};

/// Iterates like PathFeed over rows that know only the paths of their parents: finds rows of the parent, reads their
/// symbols, and writes the paths of both children's rows. A lane takes four rows at once, next to its neighbours' rows,
/// so that their symbols share cache lines. kWithPairs: finds rows of two parents that are siblings and are both split.
///
/// No two levels of a tree share a number of a path (PathLevels), so rows of a leaf, whose paths stay, are never found
/// again.
template <bool kWithPairs, int kSymbolBytes, int kRecordWords>
class DividingFeed {
 public:
  static constexpr bool kPairs = kWithPairs;

  __device__ DividingFeed(DeviceMatrixView const& matrix, PathSource const& source, Segment const& s,
                          std::uint32_t* queue)
      : matrix_{matrix},
        source_{source},
        store_{source.paths.store},
        queue_{queue},
        first_{s.first},
        end_{s.first + s.n},
        at_{s.first + threadIdx.x / 32 * kLookRows},
        number_{source.paths.first + s.path / 2},
        left_child_{source.paths.next_first + s.path / 2 * 2},
        pair_{kPairs && s.other_slot != kNoSlot},
        tells_{s.tells} {
    PathSplit const split = SplitOf(s.group, s.path);
    symbols_ = SymbolsOf(split.column);
    parent_ = MakeParent(split, s.path);
    if (pair_) sibling_ = MakeParent(SplitOf(s.group, s.other_path), s.other_path);
    fetched_ = Fetch();
  }
  __device__ bool Take(Batch* batch) {
    while (queued_ < 32 && at_ < end_) Look();
    if (queued_ == 0) return false;
    std::uint32_t const lane = threadIdx.x % 32, taken = min(queued_, 32U);
    queued_ -= taken;
    std::uint32_t const entry = queue_[queued_ + min(lane, taken - 1)];
    __syncwarp();  // the queue is written again next
    *batch = {first_ + (entry & ~kOther), lane < taken, kPairs && (entry & kOther) != 0};
    return true;
  }
  __device__ NarrowGradient Narrow(RowIndex row) const { return store_.narrow[row]; }
  __device__ GradientPair Wide(RowIndex row) const { return WideOf(store_, row); }

 private:
  /// Marks a queued row, relative to first_, as a row of the other path.
  static constexpr std::uint32_t kOther = 1U << 31;
  static constexpr std::uint32_t kRounds = 4, kLookRows = 32 * kRounds;
  static_assert(32 + kLookRows <= kQueueWords);

  /// The division of one parent's rows, in few registers.
  struct Parent {
    std::uint32_t bin_and_missing;  ///< PathSplit::bin, and missing_left above it
    std::uint32_t symbols;          ///< offset from the first parent's symbols
    bool by_categories;
    bool left;  ///< rows of the left child are summed
    /// The bins in the form of GoesLeft's argument.
    struct Bins {
      std::uint16_t bin, missing_left;
    };
    __device__ Bins bins() const {
      return {static_cast<std::uint16_t>(bin_and_missing), static_cast<std::uint16_t>(bin_and_missing >> 16)};
    }
  };
  /// Selects member by member: an address would keep all members in memory.
  __device__ Parent ParentOf(bool other) const {
    if (!kPairs) return parent_;
    return {other ? sibling_.bin_and_missing : parent_.bin_and_missing, 0,
            other ? sibling_.by_categories : parent_.by_categories, other ? sibling_.left : parent_.left};
  }
  __device__ PathSplit SplitOf(std::uint32_t group, std::uint32_t child) const {
    return source_.paths.splits[(group << source_.paths.depth) + child / 2];
  }
  __device__ std::uint8_t const* SymbolsOf(FeatureIndex column) const {
    return store_.records + matrix_.symbol_offset(column);
  }
  __device__ Parent MakeParent(PathSplit const& split, std::uint32_t child) const {
    return {split.bin | std::uint32_t{split.missing_left} << 16,
            static_cast<std::uint32_t>(SymbolsOf(split.column) - symbols_), (split.family & kByCategories) != 0,
            child % 2 == 0};
  }
  /// Loads the paths of the lane's next rows, a byte each, with 0, which is no path, beyond the end.
  __device__ std::uint32_t Fetch() const {
    std::uint32_t paths = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      std::uint32_t const row = at_ + 32 * i + threadIdx.x % 32;
      if (row >= end_) continue;
      // Without paths the parent is the group's node.
      paths |= (source_.paths.path == nullptr ? number_ : source_.paths.path[row]) << (8 * i);
    }
    return paths;
  }
  /// Divides the lane's next rows, and queues the summed ones.
  __device__ void Look() {
    std::uint32_t const row = at_ + threadIdx.x % 32, paths = fetched_;
    at_ += StepRows() * kRounds;
    fetched_ = Fetch();
    std::uint32_t symbol[kRounds];
    bool in[kRounds], other[kRounds];
#pragma unroll
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      // The first sibling's number is even.
      std::uint32_t const from_first = (paths >> (8 * i) & 0xFFU) - number_;
      in[i] = from_first <= (pair_ ? 1 : 0);
      other[i] = kPairs && from_first == 1;
      symbol[i] = 0;
      if (!in[i]) continue;
      std::uint8_t const* at = symbols_ + std::uint64_t{row + 32 * i} * (4 * kRecordWords);
      if (other[i]) at += static_cast<std::int32_t>(sibling_.symbols);
      symbol[i] = kSymbolBytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      Parent const parent = ParentOf(other[i]);
      bool const left = in[i] && GoesLeft(symbol[i], parent.bins(), parent.by_categories, source_.categories);
      std::uint32_t const child = (other[i] ? 2 : 0) + (left ? 0 : 1);
      if (in[i] && tells_) source_.paths.next_path[row + 32 * i] = static_cast<std::uint8_t>(left_child_ + child);
      bool const summed = in[i] && left == parent.left;
      std::uint32_t const all = __ballot_sync(kAllLanes, summed);
      std::uint32_t const before = __popc(all & ((1U << threadIdx.x % 32) - 1));
      if (summed) {
        queue_[queued_ + before] = (row + 32 * i - first_) | (other[i] ? kOther : 0);
      }
      queued_ += __popc(all);
    }
    __syncwarp();
  }

  DeviceMatrixView const& matrix_;
  PathSource const& source_;
  RowStore store_;
  std::uint32_t* queue_;
  std::uint32_t first_, end_, at_;
  std::uint32_t number_;      ///< of the parent's path, or of the first sibling's
  std::uint32_t left_child_;  ///< path of the first left child's rows; the other children's paths follow
  bool pair_;
  bool tells_;
  Parent parent_;
  Parent sibling_{};
  std::uint8_t const* symbols_;  ///< symbols of the first parent's split, of row 0
  std::uint32_t fetched_;
  std::uint32_t queued_{0};
};

/// The feeds of a kernel, before the shape of records is known.
struct ListRows {
  using Source = ListSource;
  using Jobs = ListJobs;
  template <int, int>
  using Feed = ListFeed;
};
struct ToldRows {
  using Source = PathSource;
  using Jobs = PathJobs;
  template <int, int>
  using Feed = PathFeed;
};
template <bool kWithPairs>
struct DividedRows {
  using Source = PathSource;
  using Jobs = PathJobs;
  template <int kSymbolBytes, int kRecordWords>
  using Feed = DividingFeed<kWithPairs, kSymbolBytes, kRecordWords>;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_ROW_FEEDS_CUH_
