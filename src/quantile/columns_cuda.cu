#include <algorithm>

#include "core/array_source.h"
#include "core/float_bits.h"
#include "core/grid.h"
#include "quantile/columns_cuda.h"
#include "quantile/quantile_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kTile = 32;  // a block transposes so many rows and columns at a time
constexpr int kTileLines = 8;

/// rows: the values of `n` rows, each `row_stride` values behind the one before. A value equal to `mark` is missing.
template <typename T>
__global__ void TransposeKernel(T const* rows, std::uint64_t row_stride, float mark, std::uint64_t n,
                                FeatureIndex columns, std::uint32_t* keys, std::uint64_t stride,
                                unsigned long long* missing) {
  __shared__ std::uint32_t tile[kTile][kTile + 1];
  std::uint64_t const column_tiles = (columns + std::uint64_t{kTile} - 1) / kTile;
  std::uint64_t const tiles = (n + kTile - 1) / kTile * column_tiles;
  for (std::uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    std::uint64_t const first_row = t / column_tiles * kTile, first_column = t % column_tiles * kTile;
    for (int j = threadIdx.y; j < kTile; j += kTileLines) {
      std::uint64_t const row = first_row + j, column = first_column + threadIdx.x;
      if (row >= n || column >= columns) continue;
      float const value = ValueOrNaN(rows[row * row_stride + column], mark);
      tile[j][threadIdx.x] = isnan(value) ? kNoKey : AscendingKey(value);
    }
    __syncthreads();
    for (int j = threadIdx.y; j < kTile; j += kTileLines) {
      std::uint64_t const row = first_row + threadIdx.x, column = first_column + j;
      bool const inside = row < n && column < columns;
      std::uint32_t const key = inside ? tile[threadIdx.x][j] : 0;
      if (inside) keys[column * stride + row] = key;
      unsigned const none = __ballot_sync(kAllLanes, key == kNoKey);
      if (missing != nullptr && none != 0 && threadIdx.x == 0) {
        atomicAdd(missing + column, static_cast<unsigned long long>(__popc(none)));
      }
    }
    __syncthreads();
  }
}

}  // namespace

void TransposeToKeys(ArrayPiece const& rows, FeatureIndex columns, std::uint32_t* keys, std::uint64_t stride,
                     unsigned long long* missing, cudaStream_t stream) {
  std::uint64_t const tiles = (rows.n + kTile - 1) / kTile * ((columns + std::uint64_t{kTile} - 1) / kTile);
  unsigned const blocks = Blocks(tiles, 1, CurrentDeviceLimits(), 8);
  VisitValues(rows.values, [&](auto const* values) {
    TransposeKernel<<<blocks, dim3(kTile, kTileLines), 0, stream>>>(values, rows.stride, rows.values.missing, rows.n,
                                                                    columns, keys, stride, missing);
  });
  CheckLaunch("turning rows to columns");
}

}  // namespace xgbgpu::cuda
