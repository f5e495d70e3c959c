/// One tree of a saved model, as arrays.
#ifndef XGBGPU_TREE_ARRAYS_H_
#define XGBGPU_TREE_ARRAYS_H_

#include <cstdint>

#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Arrays [nodes], the root first. Nodes that no path from the root reaches are left out.
struct TreeArrays {
  Span<NodeIndex const> left;  ///< kNoNode for a leaf
  Span<NodeIndex const> right;
  Span<FeatureIndex const> feature;
  Span<float const> threshold_or_leaf;  ///< the threshold of a node that has children, the value of a leaf
  Span<std::uint8_t const> default_left;
  /// [nodes + 1] or empty: as category_ptr of xgbgpu/tree.h. A node with words and children splits on categories, and
  /// its threshold is ignored.
  Span<std::uint32_t const> category_ptr{};
  Span<std::uint32_t const> category_bits{};
};

/// A tree with its place in a model.
struct ModelTree {
  TreeArrays arrays;
  Span<float const> sum_hess;  ///< [nodes] sums of hessians of training rows, for explanations
  std::uint32_t output;
  float weight{1};  ///< of a dart; 1 in a gbtree
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_ARRAYS_H_
