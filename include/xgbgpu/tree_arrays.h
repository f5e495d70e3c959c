/// One tree of a saved model, as arrays.
#ifndef XGBGPU_TREE_ARRAYS_H_
#define XGBGPU_TREE_ARRAYS_H_

#include <cstdint>

#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Arrays with one element for each node, the root first. A node that is no child and not the root is left out.
struct TreeArrays {
  Span<NodeIndex const> left;  ///< kNoNode for a leaf
  Span<NodeIndex const> right;
  Span<FeatureIndex const> feature;
  Span<float const> threshold_or_leaf;  ///< the threshold of a node that has children, the value of a leaf
  Span<std::uint8_t const> default_left;
  /// [nodes + 1], or empty: category_ptr of xgbgpu/tree.h. A node with words and children splits on categories; its
  /// threshold does not count.
  Span<std::uint32_t const> category_ptr{};
  Span<std::uint32_t const> category_bits{};
};

/// A tree with its place in a model.
struct ModelTree {
  TreeArrays arrays;
  Span<float const> sum_hess;  ///< [nodes] sums of hessians of training rows; explanations need them
  std::uint32_t output;
  float weight{1};  ///< of a dart; 1 in a gbtree
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_ARRAYS_H_
