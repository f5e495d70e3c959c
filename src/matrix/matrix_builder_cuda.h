/// Builds a matrix on a device: first cuts and layout, then bins.
#ifndef XGBGPU_MATRIX_MATRIX_BUILDER_CUDA_H_
#define XGBGPU_MATRIX_MATRIX_BUILDER_CUDA_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "matrix/device_matrix.h"
#include "matrix/row_sizes.h"
#include "quantile/columns_cuda.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// Works on the current device. Callers call SetLayout, then Bin, then Finish.
class MatrixBuilder {
 public:
  /// `source` has all rows of the matrix. It must outlive the builder, and so must `arena`, which holds scratch.
  MatrixBuilder(RowSource const& source, Cuts cuts, BuildOptions const& options, DeviceArena* arena);

  Cuts const& cuts() const { return result_->cuts; }
  /// `stored` is the number of values that are not missing, if known. Frees the bins of an earlier layout.
  void SetLayout(DeviceLayout layout, std::optional<std::uint64_t> stored);

  /// Finds the bin of every value: of `columns`, which have all rows and features, or else of the source. `sizes` is
  /// the result of MeasureRows, if known. If columns and bins exceed `budget` bytes, the columns are freed. Returns
  /// false if memory is short for tiles of mostly stored data, whose records would take less: callers then set another
  /// layout and call Bin again.
  /// Throws  InvalidArgument (the source's rows), OutOfDeviceMemory, DeviceError
  bool Bin(std::optional<KeyColumns>* columns, std::optional<host::RowSizes> const& sizes, std::size_t budget);

  std::unique_ptr<DeviceMatrix> Finish() { return std::move(result_); }

 private:
  /// Returns the scratch bytes of binning columns.
  std::size_t bytes_beside_columns() const;
  void AllocateRecords();
  void BinDense(KeyColumns const& columns);
  void BinDense();
  void BinSparse(KeyColumns const& columns);
  void BinSparse(host::RowSizes const& sizes);
  void BinPieces(host::RowSizes const& sizes, std::uint64_t most, std::uint32_t* cells, PieceStream* pieces);

  RowSource const& source_;
  int threads_;
  DeviceArena* arena_;
  DeviceBuffer<float> cut_values_;
  bool knows_stored_{false};
  std::unique_ptr<DeviceMatrix> result_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_MATRIX_BUILDER_CUDA_H_
