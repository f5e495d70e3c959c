/// Walks one quantised row through one tree.
#ifndef XGBGPU_PREDICT_PREDICT_OPS_H_
#define XGBGPU_PREDICT_PREDICT_OPS_H_

#include "base/hd.h"
#include "matrix/matrix.h"
#include "partition/partition_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A view of a tree; arrays of xgbgpu::Tree.
struct TreeView {
  NodeIndex const* left;
  FeatureIndex const* feature;
  BinIndex const* split_bin;
  std::uint8_t const* default_left;
  BinIndex const* cut_ptr;            ///< Cuts::ptr
  std::uint32_t const* category_ptr;  ///< nullptr: no split by categories
  std::uint32_t const* category_bits;
};

/// Returns the leaf of a quantised row.
template <typename View>
XGBGPU_HD NodeIndex LeafOfRow(View const& view, RowIndex row, TreeView const& tree) {
  NodeIndex n = 0;
  while (tree.left[n] != kNoNode) {
    FeatureIndex const f = tree.feature[n];
    BinIndex const bins = tree.cut_ptr[f + 1] - tree.cut_ptr[f];
    bool const default_left = tree.default_left[n] != 0;
    bool left = false;
    if (tree.category_ptr != nullptr && tree.category_ptr[n] != tree.category_ptr[n + 1]) {
      left = RowGoesLeft(view, row, CategorySplit{f, tree.category_bits + tree.category_ptr[n], bins, default_left});
    } else {
      left = RowGoesLeft(view, row, BinSplit{f, tree.split_bin[n] - tree.cut_ptr[f], bins, default_left});
    }
    n = tree.left[n] + (left ? 0 : 1);
  }
  return n;
}

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PREDICT_OPS_H_
