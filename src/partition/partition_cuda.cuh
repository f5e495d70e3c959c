/// Which way a row goes, for every device layout.
#ifndef XGBGPU_PARTITION_PARTITION_CUDA_CUH_
#define XGBGPU_PARTITION_PARTITION_CUDA_CUH_

#include "matrix/device_matrix.h"
#include "partition/partition_ops.h"

namespace xgbgpu::cuda {

/// A split, and where the symbols lie that decide it.
struct RowTest {
  BinSplit split;
  std::uint8_t const* symbols;  // dense: of row 0
  std::uint64_t record_bytes;
  std::uint8_t symbol_bytes;
  SparseView<std::uint32_t> sparse;

  __device__ RowTest(DeviceMatrixView const& m, FeatureIndex feature, BinIndex bin, bool default_left)
      : split{feature, bin, 0, default_left}, symbols{nullptr}, record_bytes{0}, symbol_bytes{m.symbol_bytes} {
    if (m.dense) {
      std::uint32_t const tile = feature / m.tile_columns;
      record_bytes = m.record_bytes();
      symbols = m.records + tile * m.rows * record_bytes + feature % m.tile_columns * m.symbol_bytes;
      split.bins = m.tile[tile].bins;  // the symbol for "missing"
    } else {
      split.bins = m.bins(feature);
      sparse = {m.row_cells, m.row_ptr, m.cut_ptr};
    }
  }
  __device__ bool Left(RowIndex row) const {
    if (symbol_bytes == 1) return SymbolGoesLeft(symbols[row * record_bytes], split);
    if (symbol_bytes == 2) {
      return SymbolGoesLeft(*reinterpret_cast<std::uint16_t const*>(symbols + row * record_bytes), split);
    }
    return GoesLeft(sparse, row, split);
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PARTITION_CUDA_CUH_
