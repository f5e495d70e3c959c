// Sizes the memory of rows by paths, and chooses between moves and paths.
#include "partition/path_workspace_cuda.h"

#include <algorithm>

#include "gradient/gradient.h"
#include "partition/list_workspace_cuda.h"
#include "partition/partition_policy.h"

namespace xgbgpu::cuda {

PathWorkspace::PathWorkspace(DeviceMatrix const& matrix, std::uint64_t all_rows, ClearedWorkspace* workspace)
    : whole_{matrix.view},
      all_rows_{all_rows},
      matrix_{matrix.view},
      workspace_{workspace},
      categorical_{!matrix.cuts.categorical.empty()} {}

/// Returns the number of paths of all groups of a level.
std::size_t PathWorkspace::PathsOf(TreeShape const& shape, int level) const {
  int const below = move_every_ == 0 ? level : level % move_every_;
  return shape.Nodes(level - below) << below;
}

void PathWorkspace::Reserve(TreeShape const& shape, DeviceMatrixView const& matrix, bool sampled, bool may_move) {
  matrix_ = matrix;
  sampled_ = sampled;
  std::size_t const rows = matrix.rows;
  std::size_t const bins = matrix.tiles * rows * matrix.record_bytes();
  bool const small = bins < kPartitionPolicy.least_moved_bytes;
  if (!small && may_move) {
    move_every_ = kPartitionPolicy.move_every;
  } else {
    move_every_ = shape.levels > kMostLevelsWithoutMoves ? kPartitionPolicy.move_small_every : 0;
  }
  // Large matrices of several tiles are excluded: rows would be divided again for each tile. So are small ones with an
  // order, whose slots another kernel would have to clear.
  divides_ =
      move_every_ == 0 ? small && !shape.ordered : move_every_ == kPartitionPolicy.move_every && matrix.tiles == 1;
  clears_all_ = divides_ && !shape.ordered &&
                shape.WidestNodes() * matrix.cells * sizeof(GradientSum) <= kPartitionPolicy.most_cleared_bytes;
  int const moves = move_every_ == 0 ? 0 : (shape.levels - 1) / move_every_;
  // The sample size of other devices is unknown here.
  bool const may_be_narrow = (all_rows_ == whole_.rows ? rows : all_rows_) >= kNarrowMinRows;

  auto const grow = [&](auto* buffer, char const* part, std::size_t size) { workspace_->Reserve(buffer, part, size); };
  constexpr std::size_t kSlack = 128;  // paths are read in words
  for (auto& path : path_) grow(&path, "row paths", rows + kSlack);
  for (int store = 0; store <= std::min(moves, 2); ++store) {
    if (may_be_narrow) grow(&narrow_[store], "narrow gradients", rows + 3);
    if (store == 0) continue;
    grow(&moved_records_[store - 1], "moved bins", bins);
    if (move_wide_ || !may_be_narrow) grow(&moved_wide_[store - 1], "moved gradients", rows);
  }
  ordered_ = shape.ordered;
  // Rows walk from their group of the first move.
  bool const notes_start = moves > 0 && !sampled && !WalksInBytes(matrix, categorical_);
  starts_ = notes_start ? 1U << move_every_ : 0;
  if (starts_ != 0) {
    grow(&start_, "row paths", rows);
    grow(&start_nodes_, "nodes", starts_);
    if (ordered_) grow(&tree_start_nodes_, "nodes", starts_);
  }
  std::size_t const widest = shape.WidestNodes(), nodes = shape.NodesAfter(shape.levels);
  std::size_t paths = 0;
  for (int level = 0; level < shape.levels; ++level) paths = std::max(paths, PathsOf(shape, level));
  for (auto& groups : groups_) grow(&groups, "nodes", widest);
  grow(&splits_, "nodes", paths);
  grow(&counts_, "nodes", paths);
  grow(&places_, "nodes", nodes);
  grow(&walk_, "nodes", nodes);
  if (ordered_) grow(&tree_walk_, "nodes", shape.ReturnedAfter(shape.levels));
  grow(&jobs_, "nodes", std::max<std::size_t>(kNearJobs, widest));
}

RowPaths PathWorkspace::View(GradientPair const* gradients, DeviceLimits const& limits) const {
  RowPaths paths{};
  paths.store = {matrix_.records, narrow_[0].data(), gradients};
  paths.next_path = next_path();
  paths.groups = groups_[0].data();
  paths.splits = splits_.data();
  paths.counts = counts_.data();
  paths.places = places_.data();
  paths.walk = walk_.data();
  paths.jobs = jobs_.data();
  paths.unit_rows = UnitRows(matrix_, limits);
  paths.walk_whole = sampled_;
  return paths;
}

/// Lets the view use the store that rows are moved to, too.
void PathWorkspace::BeginMove(RowPaths* view) const {
  RowPaths& paths = *view;
  bool const first = paths.store.records == matrix_.records && !sampled_;
  int const next = paths.store.records == moved_records_[0].data() ? 1 : 0;
  paths.next_records = moved_records_[next].data();
  paths.next_narrow = narrow_[next + 1].data();
  // The memory may be from a smaller sample.
  bool const fits = moved_wide_[next].size() >= matrix_.rows;
  paths.next_wide = fits ? moved_wide_[next].data() : nullptr;
  paths.next_groups = paths.groups == groups_[0].data() ? groups_[1].data() : groups_[0].data();
  paths.start = first ? start_.data() : nullptr;
  paths.start_nodes = first ? start_nodes_.data() : nullptr;
}

/// Lets the view use the new store only.
void PathWorkspace::EndMove(RowPaths* view) {
  RowPaths& paths = *view;
  paths.store = {paths.next_records, paths.next_narrow, paths.next_wide};
  paths.groups = paths.next_groups;
  paths.path = nullptr;
  paths.depth = 0;
}

}  // namespace xgbgpu::cuda
