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

/// Nodes are numbered in the order in which they were made: a split gives its left child the next number and its right
/// child the one after, so children always follow their parent. Arrays have one element per node.
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
  std::vector<float> leaf_value;           ///< weight × learning rate: what a leaf adds to the margin

  /// A node splits on categories if it has words here: bit c of words category_ptr[n] … category_ptr[n + 1] - 1 is set
  /// if category c goes right. Missing values go where default_left says, any other value left; the threshold is NaN.
  std::vector<std::uint32_t> category_ptr;   ///< [nodes + 1]; empty: the tree splits on no categories
  std::vector<std::uint32_t> category_bits;  ///< [category_ptr.back()]

  std::size_t size() const { return left.size(); }
  bool IsLeaf(NodeIndex n) const { return left[static_cast<std::size_t>(n)] == kNoNode; }
  Span<std::uint32_t const> RightCategories(NodeIndex n) const;  ///< the node's words; none: it splits on numbers
  std::size_t Leaves() const { return (size() + 1) / 2; }
  void Resize(std::size_t nodes);
};

/// Bitwise equality of structure and numbers: what "one model" means (docs/determinism.md).
XGBGPU_API bool operator==(Tree const& a, Tree const& b);
inline bool operator!=(Tree const& a, Tree const& b) { return !(a == b); }

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_H_
