/// Per-row maths of the partition stage: the side of a row.
#ifndef XGBGPU_PARTITION_PARTITION_OPS_H_
#define XGBGPU_PARTITION_PARTITION_OPS_H_

#include "base/hd.h"
#include "matrix/matrix.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A split by numbers, for the partition stage.
struct BinSplit {
  FeatureIndex feature;
  BinIndex bin;   ///< first feature-local bin that goes right
  BinIndex bins;  ///< bins of the feature: the symbol of missing values in dense rows
  bool default_left;
};

/// Returns true if a row with this symbol goes left. `bin` is the first symbol that goes right. `missing_left` is the
/// symbol that goes left although it is not smaller, or a number that is no symbol. Without branches, which would be
/// unpredictable.
XGBGPU_HD bool SymbolGoesLeft(std::uint32_t symbol, std::uint32_t bin, std::uint32_t missing_left) {
  return (static_cast<unsigned>(symbol < bin) | static_cast<unsigned>(symbol == missing_left)) != 0;
}
/// Returns true if a row with this symbol goes left. `right` is the set of symbols that go right.
XGBGPU_HD bool SymbolGoesLeft(std::uint32_t symbol, std::uint32_t const* right) {
  return ((right[symbol / 32] >> (symbol % 32)) & 1U) == 0;
}

XGBGPU_HD bool SymbolGoesLeft(BinIndex symbol, BinSplit const& split) {
  return SymbolGoesLeft(symbol, split.bin, split.default_left ? split.bins : ~BinIndex{0});
}

/// A split by categories, for the partition stage.
struct CategorySplit {
  FeatureIndex feature;
  std::uint32_t const* right;  ///< bit set of the categories that go right
  BinIndex bins;               ///< bins of the feature: the symbol of missing values in dense rows
  bool default_left;
};

XGBGPU_HD bool SymbolGoesLeft(BinIndex symbol, CategorySplit const& split) {
  return symbol == split.bins ? split.default_left : SymbolGoesLeft(symbol, split.right);
}

template <typename Symbol, typename Split>
XGBGPU_HD bool GoesLeft(DenseView<Symbol> const& view, RowIndex row, Split const& split) {
  return SymbolGoesLeft(view.column(split.feature)[row], split);
}

/// Returns true if a sparse row with these ascending cells goes left. The cells of the feature begin at `first_cell`. A
/// bisection finds the row's cell.
template <typename Cell, typename Split>
XGBGPU_HD bool CellsGoLeft(Cell const* cells, std::uint64_t count, BinIndex first_cell, Split const& split) {
  Cell const* const end = cells + count;
  while (count > 0) {
    std::uint64_t const half = count / 2;
    if (cells[half] < first_cell) {
      cells += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (cells == end || *cells >= first_cell + split.bins) return split.default_left;
  return SymbolGoesLeft(*cells - first_cell, split);
}

template <typename Cell, typename Split>
XGBGPU_HD bool GoesLeft(SparseView<Cell> const& view, RowIndex row, Split const& split) {
  std::uint64_t const begin = view.row_ptr[row];
  return CellsGoLeft(view.cells + begin, view.row_ptr[row + std::uint64_t{1}] - begin, view.cell_ptr[split.feature],
                     split);
}

/// Returns true if a row goes left, for calls with many features per row: reads dense rows where they are contiguous.
template <typename Symbol, typename Split>
XGBGPU_HD bool RowGoesLeft(DenseView<Symbol> const& view, RowIndex row, Split const& split) {
  return SymbolGoesLeft(view.row(row)[split.feature], split);
}
template <typename Cell, typename Split>
XGBGPU_HD bool RowGoesLeft(SparseView<Cell> const& view, RowIndex row, Split const& split) {
  return GoesLeft(view, row, split);
}

}  // namespace xgbgpu

#endif  // XGBGPU_PARTITION_PARTITION_OPS_H_
