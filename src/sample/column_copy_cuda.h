/// The columns that a tree may use, side by side on a CUDA device. docs/adr/0042-columns-of-a-tree.md
#ifndef XGBGPU_SAMPLE_COLUMN_COPY_CUDA_H_
#define XGBGPU_SAMPLE_COLUMN_COPY_CUDA_H_

#include <cstdint>
#include <vector>

#include "cuda/cleared_workspace.h"
#include "cuda/pinned_upload.h"
#include "matrix/device_matrix.h"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

/// A dense matrix without categories is copied. Features keep their numbers, their bins and their symbol for "missing";
/// only their columns are others (DeviceMatrixView::copied). The layout is a function of the number of columns: trees
/// with equally many columns have the same, whichever they are.
class ColumnCopy {
 public:
  /// The arguments must outlive this object.
  ColumnCopy(DeviceMatrix const& matrix, ClearedWorkspace* workspace);

  /// Tells whether a copy of `columns` columns is read enough faster than the matrix.
  bool Pays(FeatureIndex columns) const;
  /// Returns the layout of a copy of `columns` columns. Pointers to its arrays are null.
  DeviceMatrixView LayoutOf(FeatureIndex columns) const;

  /// Makes room for copies of `columns` columns, with records of `rows` rows; 0: the records are elsewhere.
  void Reserve(FeatureIndex columns, std::uint64_t rows);
  /// Tells the device the features of the next copy, ascending, one for each column. Enqueued.
  void Tell(std::vector<FeatureIndex> const& features);

  // The room that was reserved last:

  FeatureIndex columns() const { return view_.copied.columns; }
  DeviceMatrixView const& view() const { return view_; }
  std::vector<DeviceTile> const& tiles() const { return tiles_; }
  std::uint8_t* records() const { return records_.data(); }

 private:
  DeviceMatrix const& matrix_;
  ClearedWorkspace* workspace_;
  DeviceTile widest_{0, 0, 0};  ///< the bins and symbols of every tile of a copy
  DeviceMatrixView view_{};
  std::vector<DeviceTile> tiles_;
  DeviceBuffer<DeviceTile> tile_array_;
  DeviceBuffer<std::uint8_t> records_;
  DeviceBuffer<FeatureIndex> places_;  ///< CopiedColumns::column_of, then feature_of
  PinnedUpload<FeatureIndex> upload_;
};

/// Copies the columns of `copy` of a page's rows to `records`. The page's first row is row `first_row`. `sample`: the
/// rows of the copy; null: the copy has all rows in their order. (column_copy_cuda.cu)
/// Cost  reads the page once, or the sectors of the sample's rows; writes the copy once
void CopyColumns(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const* sample,
                 DeviceMatrixView const& copy, std::uint8_t* records, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_COLUMN_COPY_CUDA_H_
