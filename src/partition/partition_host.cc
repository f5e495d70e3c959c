// Divides the rows of nodes between their children on the host.
#include <algorithm>

#include "base/parallel.h"
#include "partition/partition.h"
#include "partition/partition_ops.h"

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

}  // namespace

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
  ParallelTasks(threads_, chunks_.size(), [&](std::size_t c, int) {
    Chunk& chunk = chunks_[c];
    PartitionJob const& job = jobs[chunk.job];
    RowRecord const* const rows = job.from + chunk.first;
    std::uint8_t* const flags = flags_.data() + chunk.flags;
    chunk.left = VisitJob(matrix, job, [&](auto const& view, auto const& split) {
      std::uint32_t left = 0;
      for (std::uint32_t i = 0; i < chunk.rows; ++i) {
        bool const goes_left = ListedRowGoesLeft(view, rows[i].row, split);
        flags[i] = goes_left;
        left += goes_left;
      }
      return left;
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
  ParallelTasks(threads_, chunks_.size(), [&](std::size_t c, int) {
    Chunk const& chunk = chunks_[c];
    PartitionJob const& job = jobs[chunk.job];
    RowRecord const* const rows = job.from + chunk.first;
    VisitJob(matrix, job, [&](auto const& view, auto const& split) {
      for (std::uint32_t i = 0; i < chunk.rows; ++i) {
        positions[rows[i].row] = job.left + (ListedRowGoesLeft(view, rows[i].row, split) ? 0 : 1);
      }
    });
  });
}

}  // namespace xgbgpu::host
