/// Finds the side of a row in every device layout.
#ifndef XGBGPU_PARTITION_PARTITION_CUDA_CUH_
#define XGBGPU_PARTITION_PARTITION_CUDA_CUH_

#include "core/search.h"
#include "matrix/device_matrix.h"
#include "partition/partition_ops.h"
#include "tree/device_categories.h"

namespace xgbgpu::cuda {

/// A split with the address of its symbols. kCategories: the split may be by categories.
template <bool kCategories>
struct RowTest {
  BinSplit split;
  std::uint32_t const* right;   // set of categories; nullptr: a split by numbers
  std::uint8_t const* symbols;  // dense: the symbol of row 0
  std::uint64_t record_bytes;
  std::uint8_t symbol_bytes;  // 0: sparse
  SparseView<std::uint32_t> csr;
  std::uint32_t const* tile_ptr;  // sparse in tiles: of the feature's tile; otherwise nullptr
  std::uint16_t const* tile_cells;
  BinIndex first_cell;  // of the feature, in its tile

  __device__ RowTest(DeviceMatrixView const& m, SplitCandidate const& s, DeviceCategories const& categories)
      : split{s.feature, s.bin, 0, s.default_left},
        right{kCategories ? categories.SetOf(s) : nullptr},
        symbols{nullptr},
        record_bytes{0},
        symbol_bytes{0},
        tile_ptr{nullptr},
        tile_cells{nullptr},
        first_cell{0} {
    FeatureIndex const feature = s.feature;
    if (m.dense) {
      symbol_bytes = m.symbol_bytes;
      record_bytes = m.record_bytes();
      symbols = m.records + m.symbol_offset(m.column(feature));
      split.bins = m.tile_of(feature).bins;  // the symbol for "missing"
    } else {
      split.bins = m.bins(feature);
      csr = {m.row_cells, m.row_ptr, m.cut_ptr};
      if (m.sparse_in_tiles()) FindTile(m);
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
    if (tile_ptr != nullptr) {
      std::uint32_t const begin = tile_ptr[row], end = tile_ptr[row + std::uint64_t{1}];
      return CellsGoLeft(tile_cells + begin, end - begin, first_cell, by);
    }
    return GoesLeft(csr, row, by);
  }
  __device__ void FindTile(DeviceMatrixView const& m) {
    BinIndex const cell = m.cut_ptr[split.feature];
    std::uint32_t const tile = RangeOf(m.tiles, cell, [&](std::uint32_t t) { return m.tile[t].first_cell; });
    tile_ptr = m.tile_ptr + tile * m.rows;
    tile_cells = m.tile_cells;
    first_cell = cell - static_cast<BinIndex>(m.tile[tile].first_cell);
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PARTITION_CUDA_CUH_
