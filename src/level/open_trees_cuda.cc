/// What LevelBuilder does differently when a tree of few leaves may have any number of levels (TreeShape::open).
#include <algorithm>

#include "level/level_cuda.h"
#include "level/level_policy.h"

namespace xgbgpu::cuda {

/// How many levels are enqueued in one go: as many as the trees before had.
int LevelBuilder::LikelyLevels() {
  LevelPolicy const policy;
  if (likely_levels_ == 0) {
    likely_levels_ = policy.more_than_balanced;
    for (std::uint32_t leaves = 1; leaves <= shape_.most_splits; leaves *= 2) ++likely_levels_;
  }
  return std::min(likely_levels_, shape_.levels);
}

/// Enqueues further levels while the tree grows; false if it is deeper than unattended growth goes.
bool LevelBuilder::GrowOn() {
  if (!shape_.open) return true;
  LevelPolicy const policy;
  LevelState const& state = HeaderOf(host_memory_.data())->state;
  while (state.families != 0 && enqueued_levels_ < shape_.possible_levels) {
    if (enqueued_levels_ == shape_.levels) return false;
    int const first = enqueued_levels_;
    enqueued_levels_ = std::min(shape_.levels, first + policy.more_levels);
    likely_levels_ = std::max(likely_levels_, std::min(policy.most_enqueued_levels, enqueued_levels_));
    EnqueueLevels(first, enqueued_levels_);
    EnqueueWalk();
    WaitForTree();
  }
  int const of_order = state.families == 0 ? state.depth - 1 : state.depth;
  int const used = shape_.ordered ? of_order : NodesOf(host_memory_.data())[state.nodes - 1].depth;
  shallow_trees_ = used + policy.more_levels < likely_levels_ ? shallow_trees_ + 1 : 0;
  if (shallow_trees_ == policy.shallow_trees) {
    likely_levels_ -= policy.more_levels;
    shallow_trees_ = 0;
  }
  return true;
}

/// Grows the tree from the start, attended, and so the ones that follow: trees of a training are alike.
void LevelBuilder::GrowAttended() {
  stream_.Wait("growing a tree");  // rows have looked for leaves in vain
  too_deep_ = true;
  UseAllGradients();
  StartTree(constraints());
  BuildRoot();
  while (SelectNodes()) ExpandNodes();
}

}  // namespace xgbgpu::cuda
