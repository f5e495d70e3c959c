/// Divides records into pieces of at most 16 bytes for copies: one or two each.
#ifndef XGBGPU_MATRIX_RECORD_PIECES_CUH_
#define XGBGPU_MATRIX_RECORD_PIECES_CUH_

#include <cstdint>

#include "matrix/device_matrix.h"

namespace xgbgpu::cuda {

/// Returns the binary logarithm of the number of pieces of a record.
template <typename Piece>
__device__ std::uint32_t PieceShift(DeviceMatrixView const& m) {
  return m.record_bytes() == sizeof(Piece) ? 0 : 1;
}

/// Calls f with a piece of the type that copies records of this size.
template <typename F>
__device__ void WithPiece(std::uint32_t record_bytes, F&& f) {
  switch (record_bytes) {
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(uint2{});
    default:
      return f(uint4{});
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_RECORD_PIECES_CUH_
