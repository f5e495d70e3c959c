/// Memory for rows by paths (row_paths.h), for a tree that grows on a device.
#ifndef XGBGPU_PARTITION_PATH_WORKSPACE_CUDA_H_
#define XGBGPU_PARTITION_PATH_WORKSPACE_CUDA_H_

#include "cuda/cleared_workspace.h"
#include "partition/partition_cuda.h"
#include "tree/tree_shape.h"

namespace xgbgpu::cuda {

/// Trees on a sample of the rows are grown on a copy of these (SampleWorkspace), made at the start of each tree, as if
/// it were all data.
///
/// Memory  per row: 2 bytes of paths (3 if it is noted where the first move brought rows), and from 65,536 rows on 4
///         bytes of gradient; if rows are moved, as much again as their bins and gradients, once for the first move and
///         once for the second; and some per node. With rows sampled, each row of the sample takes as much.
class PathWorkspace {
 public:
  /// `all_rows`: of all devices, of which the matrix has some or all.
  PathWorkspace(DeviceMatrix const& matrix, std::uint64_t all_rows, ClearedWorkspace* workspace);

  /// Makes room for such trees on `matrix`: the whole, or the copy of a sample.
  void Reserve(TreeShape const& shape, DeviceMatrixView const& matrix);
  /// Says whether Reserve, from the next call on, makes room for moved gradients of the wide format.
  void SetMoveWide(bool moves) { move_wide_ = moves; }
  /// The matrix that trees are grown on.
  DeviceMatrixView const& matrix() const { return matrix_; }
  NarrowGradient* narrow() const { return narrow_[0].data(); }
  /// RowPaths::next_path of the root's level, which must be clear, since not all of it is written; or nullptr.
  std::uint8_t* next_path() const { return divides_ ? path_[1].data() : nullptr; }
  /// The finished tree for walks, on the device; in its own numbers, if there is an order.
  WalkNode const* walk() const { return ordered_ ? tree_walk_.data() : walk_.data(); }
  /// With an order: where these numbers get to be known.
  PathNumbers Numbers() const { return {tree_walk_.data(), tree_start_nodes_.data(), start_nodes_.data(), starts_}; }
  /// The view of the root's level. `gradients`: of the rows, for the wide format.
  RowPaths View(GradientPair const* gradients, DeviceLimits const& limits) const;
  /// Lets a view look at the other store, too, where rows are moved to …
  void BeginMove(RowPaths* view) const;
  /// … and there only.
  static void EndMove(RowPaths* view);
  /// Lets a view go on to the other array of paths.
  void NextPaths(RowPaths* view) const {
    view->next_path = view->path == path_[0].data() ? path_[1].data() : path_[0].data();
  }
  /// Where rows that were moved by the first `end` levels walk from; nullptr: from the root.
  std::uint8_t const* start(int end) const { return starts_ != 0 && move_every_ < end ? start_.data() : nullptr; }
  /// The nodes in the finished tree that `start` refers to.
  NodeIndex const* start_nodes() const { return ordered_ ? tree_start_nodes_.data() : start_nodes_.data(); }

  /// Must the histograms of the whole tree be cleared before it?
  bool NeedsClearHistograms() const { return clears_all_; }
  /// Are the rows moved when this level is made?
  bool IsMoved(int level, int levels) const {
    return move_every_ != 0 && level > 0 && level % move_every_ == 0 && level < levels;
  }
  /// Levels since rows were moved last.
  int Below(int level) const { return move_every_ == 0 ? level : level % move_every_; }
  bool moves() const { return move_every_ != 0; }
  /// May rows be told their paths by the kernel that sums them?
  bool divides() const { return divides_; }
  bool ordered() const { return ordered_; }

 private:
  std::size_t PathsOf(TreeShape const& shape, int level) const;

  bool Sampled() const { return matrix_.records != whole_.records; }

  DeviceMatrixView const& whole_;
  std::uint64_t all_rows_;
  DeviceMatrixView matrix_;
  ClearedWorkspace* workspace_;
  bool notes_start_;  ///< do rows walk from where the first move brought them?
  bool move_wide_{false};
  int move_every_{0};    ///< levels; 0: rows are not moved
  bool divides_{false};  ///< may rows be told their paths by the kernel that sums them?
  bool clears_all_{false};
  bool ordered_{false};
  std::uint32_t starts_{0};  ///< groups of the first move at most; 0: rows are not moved, or nobody asks

  DeviceBuffer<NarrowGradient> narrow_[3];  ///< by store: the matrix's order, moved, moved again
  DeviceBuffer<GradientPair> moved_wide_[2];
  DeviceBuffer<std::uint8_t> moved_records_[2];
  DeviceBuffer<std::uint8_t> path_[2];
  DeviceBuffer<std::uint8_t> start_;
  DeviceBuffer<NodeIndex> start_nodes_;
  DeviceBuffer<RowGroup> groups_[2];
  DeviceBuffer<PathSplit> splits_;
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<PathPlace> places_;
  DeviceBuffer<WalkNode> walk_;
  DeviceBuffer<WalkNode> tree_walk_;          ///< with an order: the tree in its own numbers
  DeviceBuffer<NodeIndex> tree_start_nodes_;  ///< with an order: start_nodes_ in the tree's own numbers
  DeviceBuffer<PathJob> jobs_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PATH_WORKSPACE_CUDA_H_
