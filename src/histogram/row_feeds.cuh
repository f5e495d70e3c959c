/// Which rows the histogram kernel sums, and how they come to its warps: from node lists, or by paths.
#ifndef XGBGPU_HISTOGRAM_ROW_FEEDS_CUH_
#define XGBGPU_HISTOGRAM_ROW_FEEDS_CUH_

#include <cstdint>

#include "core/grid.h"
#include "histogram/histogram_cuda.cuh"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"

namespace xgbgpu::cuda {

/// Rows that a block adds in one step: a lane each.
__device__ inline std::uint32_t StepRows() { return blockDim.x; }

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
  std::uint32_t path;
  std::uint32_t group;  ///< of the path
  bool tells;           ///< PathFeed<true>: no other block tells these rows their paths
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
    s.path = job.path;
    s.group = job.group;
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
    at_ += StepRows();
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

constexpr std::uint32_t kQueueWords = (512 + 32) / 2;  ///< of shared memory per warp: two rows in each

/// Hands out the rows of one path among those of a group, or all of them. A lane looks at 16 paths at once (4 if the
/// segment is small), and the next ones are on their way; rows that match wait in a queue until they fill the warp.
///
/// kDivide: rows know the paths of their parents only. A lane looks for rows of the parent, at their symbols, tells
/// both children's rows their paths, and counts them if somebody asks. No two levels of a tree have a number in common,
/// so that rows of a leaf, which nobody tells anything, are never found again.
template <bool kDivide>
class PathFeed {
 public:
  __device__ PathFeed(DeviceTree const& tree, Segment const& s, std::uint32_t* queue)
      : tree_{tree},
        store_{tree.paths.store},
        paths_{tree.paths.path},
        queue_{reinterpret_cast<std::uint16_t*>(queue)},
        base_{s.first & ~15U},
        first_{s.first},
        end_{s.first + s.n},
        pattern_{(tree.paths.first + s.path) * 0x01010101U},
        lane_rows_{kDivide || s.n < StepRows() * 16 ? 4U : 16U} {
    if constexpr (kDivide) Prepare(s);
    if (!kDivide && paths_ == nullptr) {
      at_ = first_ + threadIdx.x / 32 * 32;
    } else {
      at_ = base_ + threadIdx.x / 32 * (32 * lane_rows_);
      fetched_ = Fetch();
    }
  }
  __device__ bool Take(Batch* batch) {
    std::uint32_t const lane = threadIdx.x % 32;
    if (!kDivide && paths_ == nullptr) {
      if (at_ >= end_) return false;
      Give(min(at_ + lane, end_ - 1), at_ + lane < end_, batch);
      at_ += StepRows();
      return true;
    }
    while (queued_ < 32 && at_ < end_) Look();
    if (queued_ == 0) {
      if constexpr (kDivide) HandOnCounts();
      return false;
    }
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
    if (kDivide && paths_ == nullptr) return {pattern_, 0, 0, 0};  // the parent is the root
    if (lane_rows_ == 4) return {*reinterpret_cast<std::uint32_t const*>(paths_ + row), 0, 0, 0};
    return *reinterpret_cast<uint4 const*>(paths_ + row);
  }
  /// Bit i of the result: byte i of the word is the path.
  __device__ std::uint32_t Matches(std::uint32_t word) const {
    std::uint32_t const ones = __vcmpeq4(word, pattern_) & 0x01010101U;
    return (ones * 0x01020408U) >> 24 & 0xFU;  // gathers the bits 0, 8, 16 and 24
  }
  __device__ void Prepare(Segment const& s) {
    DeviceMatrixView const& m = tree_.matrix;
    RowPaths const& paths = tree_.paths;
    std::uint32_t const parent = s.path / 2U, entry = (s.group << paths.depth) + parent;
    split_ = paths.splits[entry];
    pattern_ = (paths.first + parent) * 0x01010101U;
    left_child_ = static_cast<std::uint8_t>(paths.next_first + 2 * parent);
    left_ = s.path % 2 == 0;
    tells_ = s.tells;
    counts_ = s.tells && paths.counts != nullptr ? paths.counts + 2 * entry : nullptr;
    symbols_ = store_.records + std::uint64_t{split_.feature / m.tile_columns} * m.rows * m.record_bytes() +
               split_.feature % m.tile_columns * m.symbol_bytes;
  }
  /// Of the parent's rows among four, bits of `mask`: those that go to this path. All are told their paths.
  __device__ std::uint32_t Divide(std::uint32_t mask, std::uint32_t row) {
    DeviceMatrixView const& m = tree_.matrix;
    std::uint32_t symbol[4], members = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      symbol[i] = 0;
      if ((mask >> i & 1U) == 0) continue;
      std::uint8_t const* const at = symbols_ + std::uint64_t{row + i} * m.record_bytes();
      symbol[i] = m.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
    }
    bool const by_categories = (split_.family & kByCategories) != 0;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      if ((mask >> i & 1U) == 0) continue;
      bool const left = GoesLeft(symbol[i], split_, by_categories, tree_.categories);
      if (tells_) tree_.paths.next_path[row + i] = static_cast<std::uint8_t>(left_child_ + (left ? 0 : 1));
      if (left == left_) members |= 1U << i;
    }
    members_ += __popc(members);
    others_ += __popc(mask & ~members);
    return members;
  }
  /// When the segment ends. By whole warps.
  __device__ void HandOnCounts() {
    if (counts_ == nullptr) return;
    std::uint32_t const members = WarpSum(members_), others = WarpSum(others_);
    if (threadIdx.x % 32 != 0) return;
    atomicAdd(counts_ + (left_ ? 0 : 1), members);
    atomicAdd(counts_ + (left_ ? 1 : 0), others);
  }
  /// Queues what matches among the lane's next paths.
  __device__ void Look() {
    std::uint32_t const lane = threadIdx.x % 32, row = at_ + lane * lane_rows_;
    uint4 const now = fetched_;
    at_ += StepRows() * lane_rows_;
    fetched_ = Fetch();
    std::uint32_t mask = Matches(now.x);
    if (lane_rows_ == 16) mask |= Matches(now.y) << 4 | Matches(now.z) << 8 | Matches(now.w) << 12;
    // Rows before the segment and after it share words with its ends.
    if (row < first_) mask &= first_ - row < 16 ? ~0U << (first_ - row) : 0;
    if (row + lane_rows_ > end_) mask &= row < end_ ? (1U << (end_ - row)) - 1 : 0;
    if constexpr (kDivide) mask = Divide(mask, row);
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

  DeviceTree const& tree_;
  RowStore store_;
  std::uint8_t const* paths_;
  std::uint16_t* queue_;
  std::uint32_t base_, first_, end_;
  std::uint32_t pattern_;
  std::uint32_t lane_rows_;
  std::uint32_t at_;
  uint4 fetched_{};
  std::uint32_t queued_{0};
  // kDivide:
  PathSplit split_;          ///< of the parent
  std::uint8_t left_child_;  ///< what its rows are told
  bool left_;                ///< its rows are summed
  bool tells_;
  std::uint32_t* counts_;  ///< of both children's rows, if this is where they are counted; else nullptr
  std::uint32_t members_{0}, others_{0};
  std::uint8_t const* symbols_;  ///< that divide, of row 0
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_ROW_FEEDS_CUH_
