/// Walks one row of raw values through one tree of a forest.
#ifndef XGBGPU_PREDICT_FOREST_OPS_H_
#define XGBGPU_PREDICT_FOREST_OPS_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"
#include "predict/packed_set_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The storage unit of nodes: a narrow node takes one word, a wide one two (see NarrowNodes, WideNodes).
struct alignas(8) ForestWord {
  float value;
  std::uint32_t link;
};

/// The place of a tree in the words of a forest.
struct alignas(16) ForestTree {
  std::uint64_t first;  ///< first word, of the root; even
  std::uint32_t words;  ///< even
  std::uint32_t kind;   ///< 1 bit wide, 1 bit twin, 30 bits output

  static constexpr std::uint32_t kWide = 1U << 31;
  static constexpr std::uint32_t kTwin = 1U << 30;
  static constexpr std::uint32_t kMostOutputs = 1U << 30;

  XGBGPU_HD bool wide() const { return (kind & kWide) != 0; }
  /// Returns true if each row's leaf has the place that it has in the tree before. A tree of vectors becomes twins.
  /// Neighbouring trees of one leaf are twins, too.
  XGBGPU_HD bool twin() const { return (kind & kTwin) != 0; }
  /// Returns the output that the tree's leaves are added to.
  XGBGPU_HD std::uint32_t output() const { return kind & (kMostOutputs - 1); }
};

constexpr std::uint32_t kNoSet = 0xFFFFFFFFU;

/// A node, independent of its storage. The children of a node are neighbours, left and right.
struct ForestNode {
  float value;         ///< value of a leaf, or threshold: `value < threshold` goes left; NaN with a set
  std::uint32_t left;  ///< number of the left child in the tree; 0: a leaf
  FeatureIndex feature;
  bool default_left;          ///< rows without the feature go left
  std::uint32_t set{kNoSet};  ///< set of categories that go right; all other values go left

  XGBGPU_HD bool leaf() const { return left == 0; }
  /// Returns the next node of a row with x, NaN if it is missing. Without a branch if there are no sets: the rows of a
  /// warp take both sides.
  template <typename Sets>
  XGBGPU_HD std::uint32_t Next(float x, Sets const& sets) const {
    bool goes_left = static_cast<bool>((x < value) | ((x != x) & default_left));
    if constexpr (Sets::kSome) {
      if (set != kNoSet && x == x) goes_left = !sets.Has(set, x);
    }
    return left + static_cast<std::uint32_t>(!goes_left);
  }
};

/// Eight bytes a node: 1 bit default direction, 15 bits number of the children's pair, 16 bits feature. Pair p is nodes
/// 2 p and 2 p + 1. Pair 0 is the root and an unused node. No threshold is NaN: a node with children whose value is NaN
/// has a set, and the lowest bits of the value are the set's number.
struct NarrowNodes {
  static constexpr std::uint32_t kWords = 1;
  static constexpr std::uint32_t kMostNodes = 1U << 16;
  static constexpr FeatureIndex kMostFeatures = 1U << 16;
  static constexpr std::uint32_t kMostSetWords = 1U << 22;
  static constexpr std::uint32_t kNaN = 0x7FC00000U;

  static void Pack(ForestNode const& node, ForestWord* to) {
    *to = {node.value, (node.default_left ? 1U << 31 : 0U) | (node.left / 2) << 16 | node.feature};
    std::uint32_t const boxed = kNaN | node.set;
    if (node.set != kNoSet) std::memcpy(&to->value, &boxed, sizeof(boxed));
  }
  XGBGPU_HD static ForestNode Load(ForestWord const* tree, std::uint32_t n) {
    ForestWord const word = tree[n];
    std::uint32_t const left = word.link >> 15 & 0xFFFEU;
    std::uint32_t value;
    std::memcpy(&value, &word.value, sizeof(value));
    std::uint32_t const set = left != 0 && word.value != word.value ? value & ~kNaN : kNoSet;
    return {word.value, left, word.link & 0xFFFFU, word.link >> 31 != 0, set};
  }
};

/// Sixteen bytes a node, for trees that are too large for narrow nodes, test larger features, or have too many sets.
struct WideNodes {
  static constexpr std::uint32_t kWords = 2;
  static constexpr FeatureIndex kMostFeatures = 1U << 31;

  static void Pack(ForestNode const& node, ForestWord* to) {
    to[0] = {node.value, node.left};
    to[1] = {0.0f, (node.default_left ? 1U << 31 : 0U) | node.feature};
    if (node.set != kNoSet) std::memcpy(&to[1].value, &node.set, sizeof(node.set));
  }
  XGBGPU_HD static ForestNode Load(ForestWord const* tree, std::uint32_t n) {
    ForestWord const first = tree[2 * std::uint64_t{n}], second = tree[2 * std::uint64_t{n} + 1];
    std::uint32_t set;
    std::memcpy(&set, &second.value, sizeof(set));
    if (first.link == 0 || first.value == first.value) set = kNoSet;
    return {first.value, first.link, second.link & 0x7FFFFFFFU, second.link >> 31 != 0, set};
  }
};

/// The end of a walk.
struct ForestLeaf {
  std::uint32_t node;  ///< number of the node in the forest's order
  float value;
};

/// Returns a leaf's term in a margin, if its tree has a weight other than 1.
XGBGPU_HD float WeightedLeaf(float value, float weight) { return (0.0f + value) * weight; }

/// Walks to the row's leaf. `sets`: of the tree, or NoSets. row(feature): the row's value, NaN if missing.
template <typename Nodes, typename Sets, typename Row>
XGBGPU_HD ForestLeaf FindLeaf(ForestWord const* tree, Sets const& sets, Row const& row) {
  std::uint32_t n = 0;
  ForestNode node = Nodes::Load(tree, 0);
  while (!node.leaf()) {
    n = node.Next(row(node.feature), sets);
    node = Nodes::Load(tree, n);
  }
  return {n, node.value};
}

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_FOREST_OPS_H_
