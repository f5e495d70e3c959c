/// One row of raw values through one tree of a forest.
#ifndef XGBGPU_PREDICT_FOREST_OPS_H_
#define XGBGPU_PREDICT_FOREST_OPS_H_

#include <cstdint>

#include "core/hd.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// What a node of a forest is stored in: a narrow node takes one word, a wide one two (see NarrowNodes, WideNodes).
struct alignas(8) ForestWord {
  float value;
  std::uint32_t link;
};

/// Where a tree lies in the words of a forest.
struct alignas(16) ForestTree {
  std::uint64_t first;  ///< word of its root; even
  std::uint32_t words;  ///< even
  std::uint32_t kind;   ///< 1 bit wide, 31 bits output

  XGBGPU_HD bool wide() const { return kind >> 31 != 0; }
  /// What its leaves are added to.
  XGBGPU_HD std::uint32_t output() const { return kind & 0x7FFFFFFFU; }
};

/// A node, whatever it was stored in. The children of a node are neighbours, left and right.
struct ForestNode {
  float value;         ///< of a leaf: its value; else the threshold: `value < threshold` goes left
  std::uint32_t left;  ///< number of the left child in the tree; 0: this node is a leaf
  FeatureIndex feature;
  bool default_left;  ///< where rows without the feature go

  XGBGPU_HD bool leaf() const { return left == 0; }
  /// Where a row with x, NaN if it is missing, goes on. Without a branch: the rows of a warp go both ways.
  XGBGPU_HD std::uint32_t Next(float x) const {
    bool const goes_left = static_cast<bool>((x < value) | ((x != x) & default_left));
    return left + static_cast<std::uint32_t>(!goes_left);
  }
};

/// Eight bytes a node: 1 bit default direction, 15 bits number of the pair that the children are, 16 bits feature. Pair
/// p is nodes 2 p and 2 p + 1; pair 0 is the root, with a node that nobody reads.
struct NarrowNodes {
  static constexpr std::uint32_t kWords = 1;
  static constexpr std::uint32_t kMostNodes = 1U << 16;
  static constexpr FeatureIndex kMostFeatures = 1U << 16;

  static void Pack(ForestNode const& node, ForestWord* to) {
    *to = {node.value, (node.default_left ? 1U << 31 : 0U) | (node.left / 2) << 16 | node.feature};
  }
  XGBGPU_HD static ForestNode Load(ForestWord const* tree, std::uint32_t n) {
    ForestWord const word = tree[n];
    return {word.value, word.link >> 15 & 0xFFFEU, word.link & 0xFFFFU, word.link >> 31 != 0};
  }
};

/// Sixteen bytes a node, for trees that are too large for narrow ones or test features beyond theirs.
struct WideNodes {
  static constexpr std::uint32_t kWords = 2;
  static constexpr FeatureIndex kMostFeatures = 1U << 31;

  static void Pack(ForestNode const& node, ForestWord* to) {
    to[0] = {node.value, node.left};
    to[1] = {0.0f, (node.default_left ? 1U << 31 : 0U) | node.feature};
  }
  XGBGPU_HD static ForestNode Load(ForestWord const* tree, std::uint32_t n) {
    ForestWord const first = tree[2 * std::uint64_t{n}];
    std::uint32_t const test = tree[2 * std::uint64_t{n} + 1].link;
    return {first.value, first.link, test & 0x7FFFFFFFU, test >> 31 != 0};
  }
};

/// Where a row ended.
struct ForestLeaf {
  std::uint32_t node;  ///< its number in the forest's order
  float value;
};

/// What a leaf adds to a margin if its tree has a weight other than 1.
XGBGPU_HD float WeightedLeaf(float value, float weight) { return (0.0f + value) * weight; }

/// row(feature): the row's value, NaN if it is missing.
template <typename Nodes, typename Row>
XGBGPU_HD ForestLeaf FindLeaf(ForestWord const* tree, Row const& row) {
  std::uint32_t n = 0;
  ForestNode node = Nodes::Load(tree, 0);
  while (!node.leaf()) {
    n = node.Next(row(node.feature));
    node = Nodes::Load(tree, n);
  }
  return {n, node.value};
}

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_FOREST_OPS_H_
