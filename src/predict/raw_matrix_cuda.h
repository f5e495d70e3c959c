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

/// How raw values lie.
///
/// Dense   Tiles of 32 rows: [rows / 32 rounded up, features, 32], NaN where a value is missing. The lanes of a warp
///         have neighbouring rows: whatever feature each reads, they read 32 banks of shared memory, and one sector of
///         device memory has only rows of one tile.
/// Sparse  CSR, features ascending in each row; of one feature the last entry counts.
struct RawView {
  std::uint64_t rows;
  FeatureIndex features;
  bool dense;
  float const* tiles;
  std::uint64_t const* row_ptr;  ///< [rows + 1]
  Entry const* entries;
};

/// Values that a dense matrix has room for.
constexpr std::size_t TiledValues(std::uint64_t rows, FeatureIndex features) {
  return (rows + kTileRows - 1) / kTileRows * kTileRows * features;
}

/// Copies rows.n rows of all features, without gaps, to rows rows.first_row … of tiles. Both are in device memory.
void TileRows(ArrayPiece const& rows, FeatureIndex features, float* tiles, cudaStream_t stream);
/// Clears the last tile, if it ends beyond the last row, so that nothing in it is undefined.
void ClearLastTile(std::uint64_t rows, FeatureIndex features, float* tiles, cudaStream_t stream);

/// The rows of a source. Immutable.
class RawMatrix {
 public:
  /// Reads the source (and once before, no values, to count them) through pinned pieces: host threads pack one while
  /// the one before is copied, on `stream`, where everything has arrived at the end. Arrays come as they are
  /// (cuda/array_upload.h). Waits.
  ///
  /// Throws  InvalidArgument (a feature beyond source.features()), OutOfDeviceMemory
  RawMatrix(RowSource const& source, DeviceArena* arena, cudaStream_t stream, int threads);

  RawView const& view() const { return view_; }
  std::uint64_t rows() const { return view_.rows; }
  FeatureIndex features() const { return view_.features; }
  bool dense() const { return view_.dense; }
  std::size_t bytes() const { return tiles_.bytes() + row_ptr_.bytes() + entries_.bytes(); }

  /// Device memory that rows with so many stored values take. While it is filled, it takes a piece more.
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
