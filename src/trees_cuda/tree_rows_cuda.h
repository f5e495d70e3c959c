/// The rows of a tree: which rows it is grown on, and how they follow its nodes.
#ifndef XGBGPU_TREES_CUDA_TREE_ROWS_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_ROWS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "growth/tree_memory_cuda.h"
#include "matrix/device_matrix.h"
#include "matrix/page_stream_cuda.h"
#include "page/page.h"
#include "partition/list_workspace_cuda.h"
#include "partition/paged_rows_cuda.h"
#include "partition/path_workspace_cuda.h"
#include "sample/column_copy_cuda.h"
#include "sample/level_columns.h"
#include "sample/sample_workspace_cuda.h"
#include "tree/tree_shape.h"
#include "trees_cuda/answer_for.h"
#include "trees_cuda/tree_device_cuda.h"
#include "trees_cuda/tree_gradients_cuda.h"
#include "trees_cuda/tree_request.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// A tree is grown on all rows of the matrix, or on a copy: of a sample, of the columns that it may use, or of both.
/// Rows go in lists or by paths. Rows in pages stay there, and each knows its node.
class TreeRows {
 public:
  /// All arguments must outlive this object. `pages`: the pages of the matrix; null: the matrix is in core.
  TreeRows(DeviceMatrix const& matrix, PageStream* pages, ColumnLists* lists, TreeDevice* device,
           TreeRequest const& request, TreeMemory const& memory, TreeGradients const& gradients);

  // Before a tree.

  /// Tells whether device-driven trees of `params` are grown on a copy of their columns. All devices call this at the
  /// same time.
  bool CopiesColumns(TrainParams const& params) const;
  /// Tells whether the rows of device-driven trees of `params` can go by paths. All devices call this at the same time.
  bool CanUsePaths(TrainParams const& params) const;
  /// Returns the approximate bytes of a tree of `params`, for its copy and for the lists or paths of its rows.
  std::uint64_t BytesOfCopy(TrainParams const& params) const;
  /// Tells whether all devices have `bytes`, beside their pages or in core. All devices call this at the same time.
  bool AllDevicesHave(std::uint64_t bytes) const;

  /// The next tree is device-driven: takes the features of its levels, if they are copied. Returns true if the tree
  /// needs a larger copy than earlier trees alike. No device has reserved that memory. All devices call this at the
  /// same time.
  bool TakeLevels();
  /// Chooses lists or paths for the rows of the next tree, and reserves its copy. Call it after TakeLevels.
  void ReserveCopy();
  /// Tells the device the columns of the next tree, if they are copied. Enqueued.
  void TellColumns();
  /// Reserves the memory of its rows for levels of this shape.
  void ReserveLevels(TreeShape const& shape);
  /// The next tree is host-driven, with at most `families` families at a time: its rows go in lists, or are in pages.
  void ReserveBatches(std::size_t families);
  /// Reserves lists of all rows. `jobs` jobs divide the rows.
  void ReserveMoves(std::size_t jobs) { lists_.Reserve(matrix_.view.rows, jobs, 0); }
  /// From now on pages stay on the device, as far as its memory allows beside `spared` bytes. In core it does nothing.
  void KeepPages(std::size_t spared) {
    if (pages_ != nullptr) pages_->KeepPages(spared);
  }

  // While a tree grows.

  /// Enqueues the sample, the gradients in fixed point, and the root with its rows.
  void EnqueueRoot(PartitionView const& view) const;
  /// Reserves more, if memory was short for rows that are copied or go by paths, on this or another device. Returns
  /// true if it has: the tree must be grown again. `returned`: of the tree. All devices call this at the same time.
  bool ReserveMore(TreeHeader const& returned, TreeShape const& shape);

  bool in_core() const { return pages_ == nullptr; }
  /// Tells whether the matrix of the tree is in pages. A copy is in core.
  bool in_pages() const { return pages_ != nullptr && !copies_sample_ && !copies_columns_; }
  bool by_paths() const { return by_paths_; }
  bool copies_sample() const { return copies_sample_; }
  /// Returns the copy of columns that the tree is grown on, or that has its layout; null: all columns.
  ColumnCopy const* columns() const { return copies_columns_ ? &columns_ : nullptr; }
  /// Tells whether the tree has rows that it was not grown on, and that are in the order of the matrix.
  bool HasUnsampled() const { return request_.sampled() && !copies_sample_; }
  /// Tells whether the histograms of all slots must be cleared before the tree.
  bool NeedsClearHistograms() const { return by_paths_ && paths_.NeedsClearHistograms(); }
  /// Tells whether rows are copied to other places when this level is made.
  bool IsMoved(int level, int levels) const { return by_paths_ && paths_.IsMoved(level, levels); }
  /// The number of symbols of the largest tile of matrix().
  std::uint32_t symbols() const { return copies_columns_ ? columns_.symbols() : symbols_; }

  /// Returns the matrix that the tree is grown on: a copy, or the whole.
  DeviceMatrixView const& matrix() const {
    if (copies_sample_) return sample_.copy();
    return copies_columns_ ? columns_.view() : matrix_.view;
  }
  /// Returns the pages of matrix(). In core there is one.
  Pages<DeviceMatrixView> pages() const { return in_pages() ? pages_of_all() : Pages<DeviceMatrixView>{matrix()}; }
  /// Returns the part of a page of matrix() that sums and splits of this level need.
  DeviceMatrixView AtLevel(DeviceMatrixView page, int level) const;
  /// Tells whether levels need fewer columns than the copy has. Features of columns do not ascend then.
  bool by_levels() const { return !tiles_of_levels_.empty(); }
  LevelColumns const& level_columns() const { return *level_columns_; }  ///< by_levels
  /// Returns the pages of all rows.
  Pages<DeviceMatrixView> pages_of_all() const {
    return pages_ ? Pages<DeviceMatrixView>{*pages_} : Pages<DeviceMatrixView>{matrix_.view};
  }
  /// Returns the pages in which all rows walk through a tree by paths: the tree's pages if it has all rows, else the
  /// pages of all rows.
  Pages<DeviceMatrixView> walked_pages() const {
    return copies_columns_ && !copies_sample_ ? Pages<DeviceMatrixView>{matrix()} : pages_of_all();
  }
  /// Returns [rows] on the device: the leaf of each row, where it has been written; in pages the node of each row. If
  /// all rows of pages go by paths, they reuse the memory of the grown tree's gradients.
  Span<NodeIndex> positions() const;

  SampleView Sample() const;
  RowLists Lists() const;
  PagedRowsView PagedRows() const;
  /// Returns the rows by paths at the root's level. Empty if rows do not go by paths.
  RowPaths RootPaths() const;
  PathWorkspace const& paths() const { return paths_; }

  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const {
    return std::tuple{by_paths_, sample_.copied(), copies_columns_ ? columns_.columns() : 0, tiles_of_levels_};
  }

 private:
  std::optional<LevelColumns> LevelsFor(TrainParams const& params) const;
  FeatureIndex ColumnsFor(TrainParams const& params) const;
  DeviceMatrixView LargestLayoutFor(TrainParams const& params) const;
  void ReserveColumns();
  void ReservePositions();
  DeviceMatrixView LayoutFor(TrainParams const& params) const;
  bool CanUsePaths(DeviceMatrixView const& layout) const;
  bool MayMove(DeviceMatrixView const& layout, TrainParams const& params, TreeShape const& shape) const;
  std::uint64_t BytesOf(DeviceMatrixView const& layout, TrainParams const& params) const;
  std::uint32_t LikelyRows(TrainParams const& params) const;
  void ReserveSampleOf(std::uint32_t rows);
  void EnqueueRootOfAll(PartitionView const& view) const;
  void EnqueueRootOfSample(PartitionView const& view) const;
  void MarkSample(PartitionView const& view) const;
  void CopyRecords(SampleView const* sample) const;

  DeviceMatrix const& matrix_;
  PageStream* pages_;
  TreeDevice& device_;
  TreeRequest const& request_;
  TreeMemory const& memory_;
  TreeGradients const& gradients_;
  std::uint32_t symbols_{1};
  bool by_paths_{false};
  bool copies_sample_{false};
  bool copies_columns_{false};
  bool keeps_positions_{false};
  mutable AnswerFor fits_columns_;

  ListWorkspace lists_;
  PathWorkspace paths_;
  PagedRowsWorkspace paged_rows_;
  SampleWorkspace sample_;
  ColumnCopy columns_;
  std::optional<LevelColumns> level_columns_;   ///< of the trees that were copied last, if their levels sample features
  std::vector<std::uint32_t> tiles_of_levels_;  ///< by_levels: [levels] tiles of the copy that a level needs
  DeviceBuffer<NodeIndex> positions_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_ROWS_CUDA_H_
