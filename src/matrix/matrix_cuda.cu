// Kernels that find the bins of keys and entries.
#include <algorithm>

#include "base/float_bits.h"
#include "cuda/grid.h"
#include "matrix/matrix_cuda.h"
#include "matrix/matrix_ops.h"
#include "quantile/quantile_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

/// Writes records from columns of keys. A thread has one row in one tile, and neighbouring threads have neighbouring
/// rows: keys are read in whole lines, and a record is one sector.
__global__ void BinColumnsKernel(DeviceMatrixView m, float const* cut_values, std::uint32_t const* keys,
                                 std::uint64_t stride, std::uint64_t first_row, std::uint64_t n,
                                 std::uint8_t* records) {
  std::uint32_t const columns_per_word = 4 / m.symbol_bytes, bits = 8 * m.symbol_bytes;
  std::uint64_t const blocks_per_tile = (n + kThreads - 1) / kThreads;
  for (std::uint64_t block = blockIdx.x; block < m.tiles * blocks_per_tile; block += gridDim.x) {
    std::uint64_t const t = block / blocks_per_tile, row = block % blocks_per_tile * kThreads + threadIdx.x;
    if (row >= n) continue;
    std::uint32_t const missing = m.tile[t].bins;
    std::uint64_t const record = (t * m.rows + first_row + row) * m.record_bytes();
    for (std::uint32_t column = 0; column < m.tile_columns; column += columns_per_word) {
      std::uint32_t word = 0;
      for (std::uint32_t j = 0; j < columns_per_word; ++j) {
        std::uint64_t const f = t * m.tile_columns + column + j;
        if (f >= m.features) break;
        std::uint32_t const key = keys[f * stride + row], first = m.cut_ptr[f];
        std::uint32_t const symbol =
            key == kNoKey ? missing : LocalBin(cut_values + first, m.cut_ptr[f + 1] - first, ValueOfKey(key));
        word |= symbol << (j * bits);
      }
      *reinterpret_cast<std::uint32_t*>(records + record + column * m.symbol_bytes) = word;
    }
  }
}

__global__ void BinEntriesKernel(DeviceMatrixView m, float const* cut_values, Entry const* entries, std::uint64_t n,
                                 std::uint32_t* cells) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    Entry const e = entries[i];
    std::uint32_t const first = m.cut_ptr[e.feature];
    cells[i] = first + LocalBin(cut_values + first, m.cut_ptr[e.feature + 1] - first, e.value);
  }
}

// In the two kernels below neighbouring threads take neighbouring rows, so that keys are read in whole lines.

__global__ void CountRowsKernel(std::uint32_t const* keys, std::uint64_t rows, FeatureIndex features,
                                std::uint64_t* counts) {
  for (std::uint64_t row = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; row < rows;
       row += std::uint64_t{gridDim.x} * kThreads) {
    std::uint32_t count = 0;
    for (FeatureIndex f = 0; f < features; ++f) count += keys[f * rows + row] != kNoKey ? 1 : 0;
    counts[row] = count;
  }
}

__global__ void BinSparseColumnsKernel(DeviceMatrixView m, float const* cut_values, std::uint32_t const* keys,
                                       std::uint64_t const* row_ptr, std::uint32_t* cells) {
  for (std::uint64_t row = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; row < m.rows;
       row += std::uint64_t{gridDim.x} * kThreads) {
    std::uint32_t* to = cells + row_ptr[row];
    for (FeatureIndex f = 0; f < m.features; ++f) {
      std::uint32_t const key = keys[f * m.rows + row];
      if (key == kNoKey) continue;
      std::uint32_t const first = m.cut_ptr[f];
      *to++ = first + LocalBin(cut_values + first, m.cut_ptr[f + 1] - first, ValueOfKey(key));
    }
  }
}

}  // namespace

void CountRows(std::uint32_t const* keys, std::uint64_t rows, FeatureIndex features, std::uint64_t* counts,
               cudaStream_t stream) {
  CountRowsKernel<<<Blocks(rows, kThreads, CurrentDeviceLimits(), kResident), kThreads, 0, stream>>>(keys, rows,
                                                                                                     features, counts);
  CheckLaunch("counting values of rows");
}

void BinSparseColumns(DeviceMatrixView const& matrix, float const* cut_values, std::uint32_t const* keys,
                      std::uint64_t const* row_ptr, std::uint32_t* cells, cudaStream_t stream) {
  BinSparseColumnsKernel<<<Blocks(matrix.rows, kThreads, CurrentDeviceLimits(), kResident), kThreads, 0, stream>>>(
      matrix, cut_values, keys, row_ptr, cells);
  CheckLaunch("finding bins");
}

void BinColumns(DeviceMatrixView const& matrix, float const* cut_values, std::uint32_t const* keys,
                std::uint64_t stride, std::uint64_t first_row, std::uint64_t n, std::uint8_t* records,
                cudaStream_t stream) {
  std::uint64_t const blocks = matrix.tiles * ((n + kThreads - 1) / kThreads);
  BinColumnsKernel<<<Blocks(blocks, 1, CurrentDeviceLimits(), kResident), kThreads, 0, stream>>>(
      matrix, cut_values, keys, stride, first_row, n, records);
  CheckLaunch("finding bins");
}

void BinEntries(DeviceMatrixView const& matrix, float const* cut_values, Entry const* entries, std::uint64_t n,
                std::uint32_t* cells, cudaStream_t stream) {
  BinEntriesKernel<<<Blocks(n, kThreads, CurrentDeviceLimits(), kResident), kThreads, 0, stream>>>(matrix, cut_values,
                                                                                                   entries, n, cells);
  CheckLaunch("finding bins");
}

}  // namespace xgbgpu::cuda
