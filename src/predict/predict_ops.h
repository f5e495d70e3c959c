/// One row through one tree.
#ifndef XGBGPU_PREDICT_PREDICT_OPS_H_
#define XGBGPU_PREDICT_PREDICT_OPS_H_

#include "core/hd.h"
#include "matrix/matrix.h"
#include "partition/partition_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A tree as kernels see it; arrays of xgbgpu::Tree.
struct TreeView {
  NodeIndex const* left;
  FeatureIndex const* feature;
  BinIndex const* split_bin;
  std::uint8_t const* default_left;
  BinIndex const* cut_ptr;  ///< Cuts::ptr
};

/// A row of either layout asked for many features: dense rows are read where they lie together.
template <typename Symbol>
XGBGPU_HD bool RowGoesLeft(DenseView<Symbol> const& view, RowIndex row, BinSplit const& split) {
  return SymbolGoesLeft(view.row(row)[split.feature], split);
}
template <typename Cell>
XGBGPU_HD bool RowGoesLeft(SparseView<Cell> const& view, RowIndex row, BinSplit const& split) {
  return GoesLeft(view, row, split);
}

/// Leaf of a quantised row.
template <typename View>
XGBGPU_HD NodeIndex LeafOfRow(View const& view, RowIndex row, TreeView const& tree) {
  NodeIndex n = 0;
  while (tree.left[n] != kNoNode) {
    FeatureIndex const f = tree.feature[n];
    BinSplit const split{f, tree.split_bin[n] - tree.cut_ptr[f], tree.cut_ptr[f + 1] - tree.cut_ptr[f],
                         tree.default_left[n] != 0};
    n = tree.left[n] + (RowGoesLeft(view, row, split) ? 0 : 1);
  }
  return n;
}

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PREDICT_OPS_H_
