#include <algorithm>

#include "core/parallel.h"
#include "partition/partition.h"
#include "partition/partition_ops.h"

namespace xgbgpu::host {

namespace {

constexpr std::uint32_t kChunkRows = 1 << 13;

/// visit(view of the rows, split of the job).
template <typename F>
decltype(auto) VisitJob(QuantisedMatrix const& matrix, PartitionJob const& job, F&& visit) {
  BinIndex const bins = matrix.cuts.bins(job.feature);
  return matrix.Visit([&](auto const& view) {
    if (job.right_categories == nullptr) return visit(view, BinSplit{job.feature, job.bin, bins, job.default_left});
    return visit(view, CategorySplit{job.feature, job.right_categories, bins, job.default_left});
  });
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

void RowPartitioner::Partition(Span<PartitionJob> jobs) {
  MakeChunks(jobs);
  ParallelTasks(threads_, chunks_.size(), [&](std::size_t c, int) {
    Chunk& chunk = chunks_[c];
    PartitionJob const& job = jobs[chunk.job];
    RowRecord const* const rows = job.from + chunk.first;
    std::uint8_t* const flags = flags_.data() + chunk.flags;
    chunk.left = VisitJob(matrix_, job, [&](auto const& view, auto const& split) {
      std::uint32_t left = 0;
      for (std::uint32_t i = 0; i < chunk.rows; ++i) {
        bool const goes_left = GoesLeft(view, rows[i].row, split);
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
    for (std::uint32_t i = 0; i < chunk.rows; ++i) {  // without a branch, which nobody could predict
      std::uint32_t const goes_left = flags[i];
      job.to[right ^ ((left ^ right) & (0 - goes_left))] = rows[i];  // goes_left ? left : right
      left += goes_left;
      right += 1 - goes_left;
    }
  });
}

void RowPartitioner::AssignChildren(Span<PartitionJob const> jobs, NodeIndex* positions) {
  MakeChunks(jobs);
  ParallelTasks(threads_, chunks_.size(), [&](std::size_t c, int) {
    Chunk const& chunk = chunks_[c];
    PartitionJob const& job = jobs[chunk.job];
    RowRecord const* const rows = job.from + chunk.first;
    VisitJob(matrix_, job, [&](auto const& view, auto const& split) {
      for (std::uint32_t i = 0; i < chunk.rows; ++i) {
        positions[rows[i].row] = job.left + (GoesLeft(view, rows[i].row, split) ? 0 : 1);
      }
    });
  });
}

}  // namespace xgbgpu::host
