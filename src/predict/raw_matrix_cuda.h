/// Rows of raw values on a CUDA device. CUDA builds only.
#ifndef XGBGPU_PREDICT_RAW_MATRIX_CUDA_H_
#define XGBGPU_PREDICT_RAW_MATRIX_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/array_upload.h"
#include "cuda/device.h"
#include "predict/raw_rows.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kTileRows = 32;  ///< rows of a tile: a warp's

/// The layout of raw values.
///
/// Dense   Tiles of 32 rows: [rows / 32 rounded up, features, 32], NaN for missing values. The lanes of a warp have
///         neighbouring rows. For any features they read 32 different banks of shared memory, and a sector of device
///         memory has rows of one tile only.
/// Sparse  CSR, features ascending in each row; the last entry of a feature counts.
struct RawView {
  std::uint64_t rows;
  FeatureIndex features;
  bool dense;
  float const* tiles;
  std::uint64_t const* row_ptr;  ///< [rows + 1]
  Entry const* entries;
};

/// Returns the values of a dense matrix, with padding.
constexpr std::size_t TiledValues(std::uint64_t rows, FeatureIndex features) {
  return (rows + kTileRows - 1) / kTileRows * kTileRows * features;
}

/// Copies rows.n rows of all features, without gaps, to rows rows.first_row … of tiles, in device memory.
void TileRows(ArrayPiece const& rows, FeatureIndex features, float* tiles, cudaStream_t stream);
/// Clears the last tile if it ends beyond the last row, so that all of it is defined.
void ClearLastTile(std::uint64_t rows, FeatureIndex features, float* tiles, cudaStream_t stream);

/// The rows of a source on a device. Immutable.
class RawMatrix {
 public:
  /// Reads the source (and once before, without values, to count them) through pinned pieces: host threads pack one
  /// piece during the copy of the piece before, on `stream`. Arrays are copied unchanged (cuda/array_upload.h). Waits.
  ///
  /// Throws  InvalidArgument (a feature beyond source.features()), OutOfDeviceMemory
  RawMatrix(RowSource const& source, DeviceArena* arena, cudaStream_t stream, int threads);

  RawView const& view() const { return view_; }
  std::uint64_t rows() const { return view_.rows; }
  FeatureIndex features() const { return view_.features; }
  bool dense() const { return view_.dense; }
  std::size_t bytes() const { return tiles_.bytes() + row_ptr_.bytes() + entries_.bytes(); }

  /// Returns the device memory of rows with `values` stored values. Filling takes a piece more.
  static std::size_t Bytes(std::uint64_t rows, FeatureIndex features, std::uint64_t values);

 private:
  void MakeTiles(DeviceArena* arena, cudaStream_t stream);
  void FillArrays(RowSource const& source, DeviceArena* arena, cudaStream_t stream, int threads);
  void FillDense(RowSource const& source, DeviceArena* arena, cudaStream_t stream, int threads);
  void FillSparse(RowSource const& source, std::uint64_t values, std::uint64_t longest, cudaStream_t stream,
                  int threads);

  RawView view_{};
  DeviceBuffer<float> tiles_;
  DeviceBuffer<std::uint64_t> row_ptr_;
  DeviceBuffer<Entry> entries_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_RAW_MATRIX_CUDA_H_
