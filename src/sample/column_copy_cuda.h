/// The columns that a tree may use, side by side on a CUDA device. docs/adr/0042-columns-of-a-tree.md
#ifndef XGBGPU_SAMPLE_COLUMN_COPY_CUDA_H_
#define XGBGPU_SAMPLE_COLUMN_COPY_CUDA_H_

#include <cstdint>
#include <vector>

#include "cuda/cleared_workspace.h"
#include "cuda/pinned_upload.h"
#include "matrix/device_matrix.h"
#include "sample/column_lists_cuda.h"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

/// A matrix without categories is copied. Features keep their numbers and their bins; only their columns change
/// (DeviceMatrixView::copied). A copy is dense. A copy of a dense matrix has its symbols for "missing", too. The layout
/// is a function of the number of columns, whichever columns are copied. Columns of a sparse matrix are copied from
/// lists. The first tree of all makes the lists.
class ColumnCopy {
 public:
  /// The arguments must outlive this object.
  ColumnCopy(DeviceMatrix const& matrix, ColumnLists* lists, ClearedWorkspace* workspace);

  /// Tells whether trees can grow on a copy of `columns` columns, of all rows or of a sample's. All devices give one
  /// answer.
  bool Serves(FeatureIndex columns, bool sampled) const;
  /// Tells whether the copy is read enough faster than the matrix. Serves must hold.
  bool Pays(FeatureIndex columns) const;
  /// Returns the bytes of lists that the next copy makes.
  std::uint64_t ListBytes() const { return matrix_.view.dense ? 0 : lists_.BytesToMake(); }
  /// Returns the layout of a copy of `columns` columns. Pointers to its arrays are null.
  DeviceMatrixView LayoutOf(FeatureIndex columns) const;

  /// Makes room for copies of `columns` columns, with records of `rows` rows; 0: the records are elsewhere. Makes the
  /// lists of a sparse matrix.
  void Reserve(FeatureIndex columns, std::uint64_t rows);
  /// Tells the device the features of the next copy, one for each column, ascending within each tile. Enqueued.
  void Tell(std::vector<FeatureIndex> const& features);

  // The room that was reserved last:

  FeatureIndex columns() const { return view_.copied.columns; }
  DeviceMatrixView const& view() const { return view_; }
  std::vector<DeviceTile> const& tiles() const { return tiles_; }
  std::uint8_t* records() const { return records_.data(); }
  ColumnListsView lists() const { return lists_.View(); }
  /// The number of symbols of every tile.
  std::uint32_t symbols() const { return widest_.symbols; }

 private:
  double BytesOfMatrix() const;

  DeviceMatrix const& matrix_;
  ColumnLists& lists_;
  ClearedWorkspace* workspace_;
  DeviceTile widest_{0, 0, 0};  ///< the bins and symbols of every tile of a copy
  DeviceMatrixView view_{};
  std::vector<DeviceTile> tiles_;
  DeviceBuffer<DeviceTile> tile_array_;
  DeviceBuffer<std::uint8_t> records_;
  DeviceBuffer<FeatureIndex> places_;  ///< CopiedColumns::column_of, then feature_of
  PinnedUpload<FeatureIndex> upload_;
};

/// Copies the columns of `copy` of a page's rows to `records`. The page is dense, and its first row is row `first_row`.
/// `sample`: the rows of the copy; null: the copy has all rows in their order. The features of the columns ascend.
/// Cost  reads the page once, or the sectors of the sample's rows; writes the copy once (column_copy_cuda.cu)
void CopyColumns(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const* sample,
                 DeviceMatrixView const& copy, std::uint8_t* records, DeviceLimits const& limits, cudaStream_t stream);

/// The same, for features in any order that ascend within each tile. (scattered_columns_cuda.cu)
void CopyScatteredColumns(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const* sample,
                          DeviceMatrixView const& copy, std::uint8_t* records, DeviceLimits const& limits,
                          cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_COLUMN_COPY_CUDA_H_
