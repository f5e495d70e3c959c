/// Memory for rows by paths (row_paths.h) of a growing tree on a device.
#ifndef XGBGPU_PARTITION_PATH_WORKSPACE_CUDA_H_
#define XGBGPU_PARTITION_PATH_WORKSPACE_CUDA_H_

#include "cuda/cleared_workspace.h"
#include "partition/partition_cuda.h"
#include "tree/tree_shape.h"

namespace xgbgpu::cuda {

constexpr int kMostLevelsWithoutMoves = 8;  ///< their paths fit a byte

/// Trees on a sample grow on a copy of its rows (SampleWorkspace), made at the start of each tree, as if the copy were
/// all data.
///
/// Memory  per row: 2 bytes of paths (3 with recorded starts of walks), and from 65,536 rows on 4 bytes of gradient; if
///         rows are moved, the size of their bins and gradients again, once for the first move and once for the second;
///         and a few bytes per node. With sampled rows the same for each row of the sample
class PathWorkspace {
 public:
  /// `all_rows`: rows of all devices; the matrix has some or all of them.
  PathWorkspace(DeviceMatrix const& matrix, std::uint64_t all_rows, ClearedWorkspace* workspace);

  /// Makes room for trees of this shape on `matrix`: the whole, or a copy of columns or of a sample. sampled: `matrix`
  /// lacks some rows, and all rows walk in the whole matrix. may_move: moves may save time. Without it rows are moved
  /// only in trees of more levels than kMostLevelsWithoutMoves: their paths need moves.
  void Reserve(TreeShape const& shape, DeviceMatrixView const& matrix, bool sampled, bool may_move);
  /// Sets if later calls of Reserve make room for moved gradients of the wide format.
  void SetMoveWide(bool moves) { move_wide_ = moves; }
  /// Returns the matrix that trees grow on.
  DeviceMatrixView const& matrix() const { return matrix_; }
  NarrowGradient* narrow() const { return narrow_[0].data(); }
  /// Returns RowPaths::next_path of the root's level, which must be clear, since kernels write only parts of it, or
  /// nullptr.
  std::uint8_t* next_path() const { return divides_ ? path_[1].data() : nullptr; }
  /// Returns the finished tree for walks, on the device; with an order in the tree's own numbers.
  WalkNode const* walk() const { return ordered_ ? tree_walk_.data() : walk_.data(); }
  /// Returns the arrays for the tree's own numbers, if there is an order.
  PathNumbers Numbers() const { return {tree_walk_.data(), tree_start_nodes_.data(), start_nodes_.data(), starts_}; }
  /// Returns the view of the root's level. `gradients`: of the rows, for the wide format.
  RowPaths View(GradientPair const* gradients, DeviceLimits const& limits) const;
  /// Lets a view use the store that rows are moved to, too …
  void BeginMove(RowPaths* view) const;
  /// … and then only the new store.
  static void EndMove(RowPaths* view);
  /// Switches a view to the other array of paths.
  void NextPaths(RowPaths* view) const {
    view->next_path = view->path == path_[0].data() ? path_[1].data() : path_[0].data();
  }
  /// Returns the starts of walks of rows that the first `end` levels moved; nullptr: rows walk from the root.
  std::uint8_t const* start(int end) const { return starts_ != 0 && move_every_ < end ? start_.data() : nullptr; }
  /// Returns the nodes of the finished tree that `start` refers to.
  NodeIndex const* start_nodes() const { return ordered_ ? tree_start_nodes_.data() : start_nodes_.data(); }

  /// Returns true if the histograms of the whole tree must be cleared before it.
  bool NeedsClearHistograms() const { return clears_all_; }
  /// Returns true if the rows are moved when this level is made.
  bool IsMoved(int level, int levels) const {
    return move_every_ != 0 && level > 0 && level % move_every_ == 0 && level < levels;
  }
  /// Returns the number of levels since the last move.
  int Below(int level) const { return move_every_ == 0 ? level : level % move_every_; }
  bool moves() const { return move_every_ != 0; }
  /// Returns true if summing kernels may write rows' paths.
  bool divides() const { return divides_; }
  bool ordered() const { return ordered_; }

 private:
  std::size_t PathsOf(TreeShape const& shape, int level) const;

  DeviceMatrixView const& whole_;
  std::uint64_t all_rows_;
  DeviceMatrixView matrix_;
  ClearedWorkspace* workspace_;
  bool categorical_;  ///< some feature has categories
  bool sampled_{false};
  bool move_wide_{false};
  int move_every_{0};    ///< levels between moves; 0: rows are not moved
  bool divides_{false};  ///< summing kernels may write rows' paths
  bool clears_all_{false};
  bool ordered_{false};
  std::uint32_t starts_{0};  ///< most groups of the first move; 0: rows are not moved, or starts are not recorded

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
