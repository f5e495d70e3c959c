/// How warps go through dense rows column by column. Included by .cu files only.
#ifndef XGBGPU_QUANTILE_KEY_TILES_CUH_
#define XGBGPU_QUANTILE_KEY_TILES_CUH_

#include <algorithm>
#include <cstdint>

#include "base/float_bits.h"
#include "cuda/array_upload.h"
#include "cuda/grid.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr int kKeyTile = 32;  // a block takes so many rows and columns at a time
constexpr int kKeyTileLines = 8;

/// The blocks that go through tiles have this shape.
inline dim3 KeyTileThreads() { return {kKeyTile, kKeyTileLines}; }
inline unsigned KeyTileBlocks(std::uint64_t rows, std::uint64_t columns) {
  std::uint64_t const tiles = (rows + kKeyTile - 1) / kKeyTile * ((columns + kKeyTile - 1) / kKeyTile);
  return Blocks(tiles, 1, CurrentDeviceLimits(), 8);
}

/// The values of `n` rows, each `stride` values behind the one before. One that is equal to `mark` is missing.
template <typename T>
struct ValueRows {
  T const* values;
  std::uint64_t stride;
  float mark;
  std::uint64_t n;
  FeatureIndex columns;
};

template <typename T>
ValueRows<T> RowsOfPiece(T const* values, ArrayPiece const& piece, FeatureIndex columns) {
  return {values, piece.stride, piece.values.missing, piece.n, columns};
}

/// Calls visit(inside, column, row, key) with the sort key of every value, kNoKey where it is missing. The lanes of a
/// warp have a column of neighbouring rows, and all make the same calls. Those that are not inside have no value.
template <typename T, typename Visit>
__device__ void ForEachKey(ValueRows<T> const& rows, Visit&& visit) {
  __shared__ std::uint32_t tile[kKeyTile][kKeyTile + 1];
  std::uint64_t const column_tiles = (rows.columns + std::uint64_t{kKeyTile} - 1) / kKeyTile;
  std::uint64_t const tiles = (rows.n + kKeyTile - 1) / kKeyTile * column_tiles;
  for (std::uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    std::uint64_t const first_row = t / column_tiles * kKeyTile, first_column = t % column_tiles * kKeyTile;
    for (int j = threadIdx.y; j < kKeyTile; j += kKeyTileLines) {
      std::uint64_t const row = first_row + j, column = first_column + threadIdx.x;
      if (row >= rows.n || column >= rows.columns) continue;
      float const value = ValueOrNaN(rows.values[row * rows.stride + column], rows.mark);
      tile[j][threadIdx.x] = isnan(value) ? kNoKey : AscendingKey(value);
    }
    __syncthreads();
    for (int j = threadIdx.y; j < kKeyTile; j += kKeyTileLines) {
      std::uint64_t const row = first_row + threadIdx.x, column = first_column + j;
      bool const inside = row < rows.n && column < rows.columns;
      visit(inside, column, row, inside ? tile[threadIdx.x][j] : kNoKey);
    }
    __syncthreads();
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_KEY_TILES_CUH_
