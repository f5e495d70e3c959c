/// Which way a row goes, for every device layout.
#ifndef XGBGPU_PARTITION_PARTITION_CUDA_CUH_
#define XGBGPU_PARTITION_PARTITION_CUDA_CUH_

#include "matrix/device_matrix.h"
#include "partition/partition_ops.h"
#include "split/category_sets.h"

namespace xgbgpu::cuda {

/// A split, and where the symbols lie that decide it. kCategories: it may be by categories.
template <bool kCategories>
struct RowTest {
  BinSplit split;
  std::uint32_t const* right;   // set of categories; nullptr: a split by numbers
  std::uint8_t const* symbols;  // dense: of row 0
  std::uint64_t record_bytes;
  std::uint8_t symbol_bytes;
  SparseView<std::uint32_t> sparse;

  __device__ RowTest(DeviceMatrixView const& m, SplitCandidate const& s, DeviceCategories const& categories)
      : split{s.feature, s.bin, 0, s.default_left},
        right{kCategories ? categories.SetOf(s) : nullptr},
        symbols{nullptr},
        record_bytes{0},
        symbol_bytes{m.symbol_bytes} {
    FeatureIndex const feature = s.feature;
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
    if (kCategories && right != nullptr) {
      return LeftBy(row, CategorySplit{split.feature, right, split.bins, split.default_left});
    }
    return LeftBy(row, split);
  }

 private:
  template <typename Split>
  __device__ bool LeftBy(RowIndex row, Split const& by) const {
    if (symbol_bytes == 1) return SymbolGoesLeft(symbols[row * record_bytes], by);
    if (symbol_bytes == 2) {
      return SymbolGoesLeft(*reinterpret_cast<std::uint16_t const*>(symbols + row * record_bytes), by);
    }
    return GoesLeft(sparse, row, by);
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PARTITION_CUDA_CUH_
