/// Visits dense rows column by column with warps. Included by .cu files only.
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

constexpr int kKeyTile = 32;  // rows and columns of a block's tile
constexpr int kKeyTileLines = 8;

/// Returns the shape of blocks that visit tiles.
inline dim3 KeyTileThreads() { return {kKeyTile, kKeyTileLines}; }
inline unsigned KeyTileBlocks(std::uint64_t rows, std::uint64_t columns) {
  std::uint64_t const tiles = (rows + kKeyTile - 1) / kKeyTile * ((columns + kKeyTile - 1) / kKeyTile);
  return Blocks(tiles, 1, CurrentDeviceLimits(), 8);
}

/// The values of `n` rows, `stride` values apart. A value equal to `mark` is missing.
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

/// Calls visit(inside, column, row, key) with the sort key of every value, or kNoKey if it is missing. The lanes of a
/// warp have neighbouring rows of one column, and all make the same calls. Lanes with inside = false have no value.
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
