/// One regression tree, as structure of arrays.
#ifndef XGBGPU_TREE_H_
#define XGBGPU_TREE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Nodes are numbered in the order of their creation: the left child of a split has the next number, the right child
/// the number after it. So children follow their parent. Arrays have one element a node.
struct XGBGPU_API Tree {
  std::vector<NodeIndex> parent;           ///< kNoNode for the root
  std::vector<NodeIndex> left;             ///< kNoNode for a leaf; the right child is left + 1
  std::vector<FeatureIndex> feature;       ///< split feature (inner nodes)
  std::vector<BinIndex> split_bin;         ///< first bin (over all features) that goes right (inner nodes)
  std::vector<float> threshold;            ///< `value < threshold` goes left (inner nodes)
  std::vector<std::uint8_t> default_left;  ///< where missing values go (inner nodes)
  std::vector<float> gain;                 ///< loss reduction of the split; 0 for a leaf
  std::vector<float> sum_hess;             ///< sum of the hessians of the node's rows
  std::vector<float> weight;               ///< best output of the node before shrinkage
  std::vector<float> leaf_value;           ///< weight × learning rate, which a leaf adds to the margin

  /// Node n splits on categories if it has words category_ptr[n] … category_ptr[n + 1] - 1: bit c is 1 if category c
  /// goes right. Missing values go as default_left says, other values left. The threshold of such a node is NaN.
  std::vector<std::uint32_t> category_ptr;   ///< [nodes + 1]; empty: the tree splits on no categories
  std::vector<std::uint32_t> category_bits;  ///< [category_ptr.back()]

  std::size_t size() const { return left.size(); }
  bool IsLeaf(NodeIndex n) const { return left[static_cast<std::size_t>(n)] == kNoNode; }
  Span<std::uint32_t const> RightCategories(NodeIndex n) const;  ///< words of the node; empty: a numeric split
  std::size_t Leaves() const { return (size() + 1) / 2; }
  /// Resizes the arrays that have one element a node.
  void Resize(std::size_t nodes);
};

/// Returns true if structure and numbers are equal bit by bit, as "one model" requires (docs/determinism.md).
XGBGPU_API bool operator==(Tree const& a, Tree const& b);
inline bool operator!=(Tree const& a, Tree const& b) { return !(a == b); }

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_H_
