// Lists the rows of nodes and moves them at divisions.
#include "partition/row_lists.h"

#include <algorithm>

#include "base/parallel.h"

namespace xgbgpu::host {

RowLists::RowLists(Span<NodeIndex> positions, int threads)
    : positions_{positions}, threads_{threads}, sample_counts_(SampleChunks(positions.size())), partitioner_{threads} {
  for (auto& list : lists_) list = Buffer<RowRecord>{positions.size()};
}

std::size_t RowLists::Sample(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                             Span<GradientPair> sampled, Shard const& shard) {
  return SampleRows(params, tree, gradients, sample_counts_, lists_[0].span(), sampled, threads_, shard);
}

GradientSum RowLists::Begin(std::size_t rows, GradientView const& gradients) {
  if (rows == positions_.size()) {
    ListAllRows(lists_[0].span(), threads_);
  } else {
    std::fill(positions_.begin(), positions_.end(), ~NodeIndex{0});
  }
  places_.assign(1, {0, static_cast<std::uint32_t>(rows), 0, true});
  return AttachGradients(gradients, {lists_[0].data(), rows}, threads_);
}

PartitionJob RowLists::MakeJob(Division const& division) {
  Place const& from = places_[static_cast<std::size_t>(division.parent)];
  return {division.feature,
          division.bin,
          division.default_left,
          lists_[from.list].data() + from.first,
          lists_[1 - from.list].data() + from.first,
          from.rows,
          division.left,
          0,
          division.right_categories};
}

void RowLists::Divide(Page<QuantisedMatrix> const& page, Span<Division const> divisions) {
  std::vector<PartitionJob> moving, last;
  std::vector<Place> moved;  // of the parent of each job that moves rows
  for (Division const& division : divisions) {
    (division.is_last ? last : moving).push_back(MakeJob(division));
    Place& parent = places_[static_cast<std::size_t>(division.parent)];
    if (!division.is_last) moved.push_back(parent);
    parent.is_listed = false;
    places_.resize(std::max(places_.size(), static_cast<std::size_t>(division.left) + 2));
  }
  partitioner_.AssignChildren(page.matrix, last, positions_.data());
  partitioner_.Partition(page.matrix, moving);
  for (std::size_t i = 0; i < moving.size(); ++i) {
    PartitionJob const& job = moving[i];
    auto const left = static_cast<std::size_t>(job.left);
    auto const list = static_cast<std::uint8_t>(1 - moved[i].list);
    places_[left] = {moved[i].first, job.n_left, list, true};
    places_[left + 1] = {moved[i].first + job.n_left, job.rows - job.n_left, list, true};
  }
}

std::vector<Span<RowRecord const>> RowLists::List(Page<QuantisedMatrix> const&, GradientView const&,
                                                  Span<NodeIndex const> nodes) {
  std::vector<Span<RowRecord const>> lists;
  for (NodeIndex const node : nodes) lists.push_back(rows(node));
  return lists;
}

bool RowLists::Finish() {
  struct Run {
    NodeIndex leaf;
    RowRecord const* rows;
    std::size_t n;
  };
  constexpr std::size_t kRunRows = 1 << 14;
  std::vector<Run> runs;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].is_listed) continue;
    auto const leaf = static_cast<NodeIndex>(i);
    Span<RowRecord const> const own = rows(leaf);
    for (std::size_t first = 0; first < own.size(); first += kRunRows) {
      runs.push_back({leaf, own.data() + first, std::min(kRunRows, own.size() - first)});
    }
  }
  ParallelTasks(threads_, runs.size(), [&](std::size_t r, int) {
    for (std::size_t i = 0; i < runs[r].n; ++i) positions_[runs[r].rows[i].row] = runs[r].leaf;
  });
  return places_[0].rows == positions_.size();
}

}  // namespace xgbgpu::host
