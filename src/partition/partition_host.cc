// Divides the rows of nodes between their children on the host.
#include <algorithm>

#include "base/parallel.h"
#include "partition/partition.h"
#include "partition/partition_ops.h"
#include "partition/partition_policy.h"

namespace xgbgpu::host {

namespace {

constexpr std::uint32_t kChunkRows = 1 << 13;

/// Calls visit(view of the rows, split of the job).
template <typename F>
decltype(auto) VisitJob(QuantisedMatrix const& matrix, PartitionJob const& job, F&& visit) {
  BinIndex const bins = matrix.cuts.bins(job.feature);
  return matrix.Visit([&](auto const& view) {
    if (job.right_categories == nullptr) return visit(view, BinSplit{job.feature, job.bin, bins, job.default_left});
    return visit(view, CategorySplit{job.feature, job.right_categories, bins, job.default_left});
  });
}

template <typename Symbol, typename Split>
bool ListedRowGoesLeft(DenseView<Symbol> const& view, RowIndex row, Split const& split) {
  return GoesLeft(view, row, split);
}

/// Decides the side of sparse rows. Reads all cells of short rows, and cells of later rows up to the same number.
/// Without branches, which would be unpredictable.
template <typename Cell, typename Split>
bool ListedRowGoesLeft(SparseView<Cell> const& view, RowIndex row, Split const& split) {
  std::uint64_t const begin = view.row_ptr[row], count = view.row_ptr[row + std::uint64_t{1}] - begin;
  if (count > view.kSpare) return GoesLeft(view, row, split);
  BinIndex const first_cell = view.cell_ptr[split.feature], bins = split.bins;
  auto const own = static_cast<std::uint32_t>(count);
  BinIndex from_end = 0;  // missing values' symbol minus the row's symbol, if it has one
  for (std::uint32_t i = 0; i < view.kSpare; ++i) {
    BinIndex const local = view.cells[begin + i] - first_cell;
    BinIndex const is_it = static_cast<BinIndex>(i < own) & static_cast<BinIndex>(local < bins);
    from_end |= (bins - local) & (0 - is_it);
  }
  return SymbolGoesLeft(bins - from_end, split);
}

/// Writes for each row whether it goes left, and returns how many do.
template <typename View, typename Split>
std::uint32_t DecideEach(View const& view, Split const& split, RowRecord const* rows, std::uint32_t n,
                         std::uint8_t* left) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    bool const goes_left = ListedRowGoesLeft(view, rows[i].row, split);
    left[i] = goes_left;
    sum += goes_left;
  }
  return sum;
}

template <typename Symbol, typename Split>
std::uint32_t Decide(DenseView<Symbol> const& view, Split const& split, RowRecord const* rows, std::uint32_t n,
                     MarkedRows*, std::uint8_t* left) {
  return DecideEach(view, split, rows, n, left);
}

/// In a column of few values the rows with a value are marked that go another way than rows without. Marks are cleared
/// again. Else each row is searched for the value.
template <typename Cell, typename Split>
std::uint32_t Decide(SparseView<Cell> const& view, Split const& split, RowRecord const* rows, std::uint32_t n,
                     MarkedRows* marked, std::uint8_t* left) {
  SparseColumns const& columns = *view.columns;
  if (columns.ptr.size() == 0 || n == 0) return DecideEach(view, split, rows, n, left);
  RowIndex const first = rows[0].row, last = rows[n - 1].row;
  RowIndex const* const all = columns.rows.data();
  RowIndex const* const begin =
      std::lower_bound(all + columns.ptr[split.feature], all + columns.ptr[split.feature + 1], first);
  RowIndex const* const end = std::upper_bound(begin, all + columns.ptr[split.feature + 1], last);
  auto const values = static_cast<std::uint64_t>(end - begin);
  if (values > HostPartitionPolicy{}.most_values_of_row * n) return DecideEach(view, split, rows, n, left);
  std::uint64_t* const marks = marked->From(last - first);
  std::uint16_t const* const bins = columns.bins.data() + (begin - all);
  for (std::uint64_t i = 0; i < values; ++i) {
    RowIndex const row = begin[i] - first;
    bool const other_way = SymbolGoesLeft(BinIndex{bins[i]}, split) != split.default_left;
    marks[row / 64] |= std::uint64_t{other_way} << (row % 64);
  }
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    RowIndex const row = rows[i].row - first;
    auto const goes_left =
        static_cast<std::uint8_t>((marks[row / 64] >> (row % 64) & 1U) ^ unsigned{split.default_left});
    left[i] = goes_left;
    sum += goes_left;
  }
  for (std::uint64_t i = 0; i < values; ++i) marks[(begin[i] - first) / 64] = 0;
  return sum;
}

}  // namespace

std::uint64_t* MarkedRows::From(RowIndex apart) {
  std::size_t const words = apart / 64 + std::size_t{1};
  if (marks_.size() < words) {
    marks_.Reserve(words);
    std::fill_n(marks_.data(), words, std::uint64_t{0});
  }
  return marks_.data();
}

void RowPartitioner::MakeChunks(Span<PartitionJob const> jobs) {
  chunks_.clear();
  std::size_t flags = 0;
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    for (std::uint64_t at = 0; at < jobs[j].rows; at += kChunkRows) {  // may pass 2^32
      auto const first = static_cast<std::uint32_t>(at);
      std::uint32_t const rows = std::min(kChunkRows, jobs[j].rows - first);
      chunks_.push_back({j, first, rows, 0, flags});
      flags += rows;
    }
  }
  flags_.Reserve(flags);
}

void RowPartitioner::Partition(QuantisedMatrix const& matrix, Span<PartitionJob> jobs) {
  MakeChunks(jobs);
  ParallelTasks(threads_, chunks_.size(), [&](std::size_t c, int thread) {
    Chunk& chunk = chunks_[c];
    PartitionJob const& job = jobs[chunk.job];
    RowRecord const* const rows = job.from + chunk.first;
    std::uint8_t* const flags = flags_.data() + chunk.flags;
    chunk.left = VisitJob(matrix, job, [&](auto const& view, auto const& split) {
      return Decide(view, split, rows, chunk.rows, &marked_[static_cast<std::size_t>(thread)], flags);
    });
  });
  for (PartitionJob& job : jobs) job.n_left = 0;
  for (Chunk& chunk : chunks_) {
    std::uint32_t const left = chunk.left;
    chunk.left = jobs[chunk.job].n_left;
    jobs[chunk.job].n_left += left;
  }
  ParallelTasks(threads_, chunks_.size(), [&](std::size_t c, int) {
    Chunk const& chunk = chunks_[c];
    PartitionJob const& job = jobs[chunk.job];
    RowRecord const* const rows = job.from + chunk.first;
    std::uint8_t const* const flags = flags_.data() + chunk.flags;
    std::uint32_t left = chunk.left, right = job.n_left + (chunk.first - chunk.left);
    for (std::uint32_t i = 0; i < chunk.rows; ++i) {  // without a branch, which would be unpredictable
      std::uint32_t const goes_left = flags[i];
      job.to[right ^ ((left ^ right) & (0 - goes_left))] = rows[i];  // goes_left ? left : right
      left += goes_left;
      right += 1 - goes_left;
    }
  });
}

void RowPartitioner::AssignChildren(QuantisedMatrix const& matrix, Span<PartitionJob const> jobs,
                                    NodeIndex* positions) {
  MakeChunks(jobs);
  ParallelTasks(threads_, chunks_.size(), [&](std::size_t c, int thread) {
    Chunk const& chunk = chunks_[c];
    PartitionJob const& job = jobs[chunk.job];
    RowRecord const* const rows = job.from + chunk.first;
    std::uint8_t* const flags = flags_.data() + chunk.flags;
    VisitJob(matrix, job, [&](auto const& view, auto const& split) {
      Decide(view, split, rows, chunk.rows, &marked_[static_cast<std::size_t>(thread)], flags);
    });
    for (std::uint32_t i = 0; i < chunk.rows; ++i) positions[rows[i].row] = job.left + 1 - flags[i];
  });
}

}  // namespace xgbgpu::host
