/// The work on rows by paths at each level of a tree. The host plans it when it enqueues the tree.
#ifndef XGBGPU_PARTITION_PATH_LEVELS_CUDA_H_
#define XGBGPU_PARTITION_PATH_LEVELS_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "partition/partition_cuda.h"
#include "partition/path_workspace_cuda.h"
#include "tree/tree_shape.h"

namespace xgbgpu::cuda {

/// Iterates over the levels of one tree, from the root on, and plans the work on their rows.
class PathLevels {
 public:
  /// `timed`: stages are timed one by one, so no kernel does the work of two stages.
  /// `pairs`: sums may be PathSums::kPairs.
  PathLevels(PathWorkspace const& workspace, TreeShape const& shape, RowPaths const& root, bool timed, bool pairs);

  /// Advances to the next level. The first call begins with the root.
  void Next();
  /// Enqueues the division of the level's rows, unless the summing kernel divides them: writes paths or moves rows.
  void Divide(PartitionView const& view, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);
  /// Marks the level's rows as divided: by Divide, or by a recorded level.
  void EndDivide();
  /// Returns true if the level's slots need a clearing kernel of their own.
  bool ClearsSlots() const { return divides_now_ && !clears_ahead_; }
  /// Marks the level's rows as summed, and possibly divided.
  void EndSum();

  PathSums sums() const { return SumsAt(level_); }
  /// Returns the facts about later levels that the level's plan needs.
  PathStep step() const;
  RowPaths const& paths() const { return paths_; }
  int level() const { return level_; }

 private:
  PathSums SumsAt(int level) const;
  bool IsMoved(int level) const { return workspace_.IsMoved(level, shape_.levels); }
  void NumberPaths();
  void Descend();

  PathWorkspace const& workspace_;
  TreeShape const& shape_;
  RowPaths paths_;
  bool divides_;         ///< summing kernels write paths at some levels
  bool clears_ahead_;    ///< the summing kernel of the level before clears slots, or all slots are cleared at the start
  std::uint32_t slots_;  ///< RowPaths::slots of all levels but the last
  bool cached_, pairs_;
  int level_{-1};
  bool divides_now_{false};
  std::uint32_t moves_{0};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PATH_LEVELS_CUDA_H_
