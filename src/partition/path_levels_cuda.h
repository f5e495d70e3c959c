/// What rows by paths do at each level of a tree. The device is told level by level, when the tree is enqueued.
#ifndef XGBGPU_PARTITION_PATH_LEVELS_CUDA_H_
#define XGBGPU_PARTITION_PATH_LEVELS_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "partition/partition_cuda.h"
#include "partition/path_workspace_cuda.h"
#include "tree/tree_shape.h"

namespace xgbgpu::cuda {

/// Goes through the levels of one tree, from the root on, and knows what each does with its rows.
class PathLevels {
 public:
  /// `timed`: stages are timed one by one, so that no kernel does the work of two.
  /// `pairs`: may sums be PathSums::kPairs?
  PathLevels(PathWorkspace const& workspace, TreeShape const& shape, RowPaths const& root, bool timed, bool pairs);

  /// Goes on to the next level. Before the first call, the level is none.
  void Next();
  /// Enqueues what divides the level's rows, unless the kernel that sums does it: rows are told their paths or moved.
  void Divide(PartitionView const& view, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);
  /// Notes that the level's rows are divided. Divide did it, unless the level was enqueued before.
  void EndDivide();
  /// Must the slots that the level sums be cleared by a kernel of its own?
  bool ClearsSlots() const { return divides_now_ && !clears_ahead_; }
  /// Notes that the level's rows are summed, which may have divided them.
  void EndSum();

  PathSums sums() const { return SumsAt(level_); }
  /// What the level's plan must know of the levels behind it.
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
  bool divides_;         ///< are rows told their paths by kernels that sum, at some levels?
  bool clears_ahead_;    ///< are slots cleared by such a kernel of the level before, or all at the start?
  std::uint32_t slots_;  ///< RowPaths::slots of all levels but the last
  bool cached_, pairs_;
  int level_{-1};
  bool divides_now_{false};
  std::uint32_t moves_{0};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PATH_LEVELS_CUDA_H_
