#include "level/path_growth.h"

#include <algorithm>

#include "core/stages.h"
#include "gradient/gradient.h"
#include "level/level_policy.h"

namespace xgbgpu::cuda {

namespace {

/// Numbers of the paths of four levels, from one move to the next. No two levels of a tree have one in common, and all
/// fit a byte.
constexpr std::uint32_t kHeap = 16;
constexpr LevelPolicy kPolicy;
static_assert(1U << kPolicy.move_every <= kHeap);
static_assert(kHeap * ((kPolicy.most_open_levels - 1) / kPolicy.move_every + 1) <= kDeadPath);
static_assert(kPolicy.most_levels <= kPolicy.most_open_levels);

}  // namespace

PathGrowth::PathGrowth(DeviceMatrix const& matrix, DeviceArena* arena)
    : whole_{matrix.view}, matrix_{matrix.view}, arena_{arena} {
  notes_start_ = !WalksInBytes(whole_, !matrix.cuts.categorical.empty());
}

/// Paths of all groups of a level.
std::size_t PathGrowth::PathsOf(TreeShape const& shape, int level) const {
  int const below = move_every_ == 0 ? level : level % move_every_;
  return shape.Nodes(level - below) << below;
}

bool PathGrowth::Reserve(TreeShape const& shape, std::uint32_t sample, cudaStream_t stream) {
  std::size_t const rows = sample != 0 ? sample : whole_.rows;
  std::size_t const bins = whole_.tiles * rows * whole_.record_bytes();
  constexpr int kPathLevels = 8;  // that a byte has room for
  if (bins >= kPolicy.least_moved_bytes) {
    move_every_ = kPolicy.move_every;
  } else {
    move_every_ = shape.levels > kPathLevels ? kPolicy.move_small_every : 0;
  }
  // Large matrices of several tiles are not: rows would be divided again for each tile. Nor small ones with an order,
  // whose slots another kernel must clear then.
  divides_ = move_every_ == 0 ? !shape.ordered : move_every_ == kPolicy.move_every && whole_.tiles == 1;
  clears_all_ = divides_ && !shape.ordered &&
                shape.WidestNodes() * whole_.cells * sizeof(GradientSum) <= kPolicy.most_cleared_bytes;
  int const moves = move_every_ == 0 ? 0 : (shape.levels - 1) / move_every_;
  bool const may_be_narrow = rows >= kNarrowMinRows;

  bool changed = false;
  auto const grow = [&](auto* buffer, char const* part, std::size_t size) {
    if (!xgbgpu::Reserve(buffer, arena_, part, size)) return;
    changed = true;
    FillBytes(buffer->data(), 0, buffer->size(), stream, "clearing new memory");  // structures are read whole
  };
  constexpr std::size_t kSlack = 128;  // paths are read in words
  for (auto& path : path_) grow(&path, "row paths", rows + kSlack);
  matrix_ = whole_;
  if (sample != 0) {
    grow(&sampled_records_, "sampled bins", bins);
    matrix_.records = sampled_records_.data();
    matrix_.rows = rows;
  }
  for (int store = 0; store <= std::min(moves, 2); ++store) {
    if (may_be_narrow) grow(&narrow_[store], "narrow gradients", rows + 3);
    if (store == 0) continue;
    grow(&moved_records_[store - 1], "moved bins", bins);
    if (move_wide_ || !may_be_narrow) grow(&moved_wide_[store - 1], "moved gradients", rows);
  }
  ordered_ = shape.ordered;
  starts_ = moves > 0 && sample == 0 && notes_start_ ? 1U << move_every_ : 0;
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
  return changed;
}

RowPaths PathGrowth::View(GradientPair const* gradients) const {
  RowPaths paths{};
  paths.store = {matrix_.records, narrow_[0].data(), gradients};
  paths.next_path = next_path();
  paths.groups = groups_[0].data();
  paths.splits = splits_.data();
  paths.counts = counts_.data();
  paths.places = places_.data();
  paths.walk = walk_.data();
  paths.jobs = jobs_.data();
  return paths;
}

/// Lets the view look at the other store, too, where rows are moved to.
void PathGrowth::BeginMove(RowPaths* view) const {
  RowPaths& paths = *view;
  bool const first = paths.store.records == matrix_.records && !Sampled();
  int const next = paths.store.records == moved_records_[0].data() ? 1 : 0;
  paths.next_records = moved_records_[next].data();
  paths.next_narrow = narrow_[next + 1].data();
  // It may be that of a smaller sample.
  bool const room = moved_wide_[next].size() >= matrix_.rows;
  paths.next_wide = room ? moved_wide_[next].data() : nullptr;
  paths.next_groups = paths.groups == groups_[0].data() ? groups_[1].data() : groups_[0].data();
  paths.start = first ? start_.data() : nullptr;
  paths.start_nodes = first ? start_nodes_.data() : nullptr;
}

/// Lets the view look there only.
void PathGrowth::EndMove(RowPaths* view) {
  RowPaths& paths = *view;
  paths.store = {paths.next_records, paths.next_narrow, paths.next_wide};
  paths.groups = paths.next_groups;
  paths.path = nullptr;
  paths.depth = 0;
}

void PathGrowth::EnqueueLevels(DeviceTree tree, TreeShape const& shape, int first, int end, LevelBounds bounds,
                               StageTimer const& timer, DeviceLimits const& limits, cudaStream_t stream) const {
  RowPaths& paths = tree.paths;
  // Stages are timed one by one. It stays so for the whole tree: numbers of paths depend on it.
  bool const divides = divides_ && timer.timeline() == nullptr;
  bool const clears_ahead = divides && !ordered_;  // slots of trees with an order are used again
  auto const slots = clears_ahead && !clears_all_ ? static_cast<std::uint32_t>(shape.WidestNodes()) : 0;
  bool const cached = tree.matrix.rows * tree.matrix.record_bytes() <= kPolicy.cached_bytes;
  bool const pairs = !cached && PairsFitShared(tree.matrix, bounds.symbols, limits);
  auto const sums_at = [&](int level) {
    int const below = move_every_ == 0 ? level : level % move_every_;
    if (!divides || level == 0 || IsMoved(level, shape.levels)) return PathSums::kTold;
    if (move_every_ == 0 || below == 1) return PathSums::kDivide;
    // Where many parents' rows lie among one another, a kernel that only divides is faster.
    if (below > 2) return PathSums::kTold;
    return cached ? PathSums::kDivide : pairs ? PathSums::kPairs : PathSums::kTold;
  };
  std::uint32_t moves = 0;
  auto const number_paths = [&] {  // as in a heap, one for each move
    paths.first = divides ? kHeap * moves + (1U << paths.depth) : 0;
    paths.next_first = divides ? kHeap * moves + (2U << paths.depth) : 0;
  };
  auto const descend = [&] {
    paths.path = paths.next_path;
    ++paths.depth;
    number_paths();
  };
  number_paths();
  for (int level = 0; level < end; ++level) {
    PathStep const step{IsMoved(level + 1, shape.levels), IsMoved(level + 2, shape.levels), sums_at(level + 1)};
    PathSums const sums = sums_at(level);
    bool const divide = sums != PathSums::kTold;
    bool const enqueued = level >= first;  // else only the view is moved on
    bounds.families = level == 0 ? 1 : shape.Split(level - 1);
    bounds.keeps = level + 1 < shape.possible_levels;
    paths.cleared = clears_ahead;
    if (IsMoved(level, shape.levels)) {
      BeginMove(&paths);
      if (enqueued) timer.Run(kMove, level, [&] { MovePaths(tree, bounds, limits, stream); });
      EndMove(&paths);
      ++moves;
      number_paths();
    } else if (level > 0) {
      paths.next_path = paths.path == path_[0].data() ? path_[1].data() : path_[0].data();
      if (!divide) {
        if (enqueued) timer.Run(kMove, level, [&] { AdvancePaths(tree, bounds, step, limits, stream); });
        descend();
      }
    }
    paths.slots = level + 1 < shape.levels ? slots : 0;
    if (divide && !clears_ahead && enqueued) timer.Run(kSum, level, [&] { ClearSums(tree, bounds, limits, stream); });
    if (enqueued) timer.Run(kSum, level, [&] { SumPaths(tree, bounds, sums, limits, stream); });
    if (divide) descend();
    if (!enqueued) continue;
    timer.Run(kSplit, level, [&] { FindSplits(tree, bounds, NextLevel::kPaths, step, limits, stream); });
  }
}

}  // namespace xgbgpu::cuda
