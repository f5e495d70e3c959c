#include "support/given_trees.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace xgbgpu::testing {

void GivenTree::Resize(std::size_t nodes) {
  left.resize(nodes, kNoNode);
  right.resize(nodes, kNoNode);
  feature.resize(nodes);
  value.resize(nodes);
  default_left.resize(nodes);
}

NodeIndex GivenTree::Leaf(reference::Values const& values, std::size_t row) const {
  NodeIndex node = 0;
  for (;;) {
    auto const n = static_cast<std::size_t>(node);
    if (left[n] == kNoNode) return node;
    float const x = feature[n] < values.features ? values(row, feature[n]) : reference::kMissing;
    if (std::isnan(x)) {
      node = default_left[n] != 0 ? left[n] : right[n];
    } else {
      node = x < value[n] ? left[n] : right[n];
    }
  }
}

GivenTree RandomTree(GivenShape const& shape, reference::Values const& values, Random* random) {
  std::size_t const used = 2 * shape.leaves - 1, nodes = used + shape.leaves / 8;
  std::vector<NodeIndex> number(nodes);  // the n-th node made → its number; the root keeps 0
  std::iota(number.begin(), number.end(), 0);
  for (std::size_t i = nodes - 1; i > 1; --i) std::swap(number[i], number[1 + random->Below(i)]);
  GivenTree tree;
  tree.Resize(nodes);
  tree.output = shape.output;
  for (float& v : tree.value) v = random->Between(-1, 1);
  std::vector<NodeIndex> leaves{0};
  for (std::size_t made = 1; made < used; made += 2) {
    std::size_t const i = shape.chain ? leaves.size() - 1 : random->Below(leaves.size());
    auto const n = static_cast<std::size_t>(leaves[i]);
    tree.left[n] = number[made];
    tree.right[n] = number[made + 1];
    tree.feature[n] = static_cast<FeatureIndex>(random->Below(shape.features));
    tree.default_left[n] = static_cast<std::uint8_t>(random->Below(2));
    float const x = values.rows == 0 || tree.feature[n] >= values.features
                        ? 0.0f
                        : values(random->Below(values.rows), tree.feature[n]);
    tree.value[n] = std::isnan(x) ? random->Between(-5, 5) : x;
    leaves[i] = tree.left[n];
    leaves.push_back(tree.right[n]);
  }
  return tree;
}

std::vector<float> RandomCovers(GivenTree const& tree, Random* random) {
  std::vector<NodeIndex> order{0};  // parents first
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const n = static_cast<std::size_t>(order[i]);
    if (tree.left[n] == kNoNode) continue;
    order.push_back(tree.left[n]);
    order.push_back(tree.right[n]);
  }
  std::vector<float> covers(tree.size(), 1.0f);
  for (std::size_t i = order.size(); i-- > 0;) {
    auto const n = static_cast<std::size_t>(order[i]);
    covers[n] = tree.left[n] == kNoNode
                    ? random->Between(0.01f, 50.0f)
                    : covers[static_cast<std::size_t>(tree.left[n])] + covers[static_cast<std::size_t>(tree.right[n])];
  }
  return covers;
}

PathForest MakePathForest(std::vector<GivenTree> const& trees, Random* random) {
  PathForest forest;
  for (GivenTree const& tree : trees) tree.AddTo(&forest, RandomCovers(tree, random));
  return forest;
}

void AddByHand(std::vector<GivenTree> const& trees, std::size_t first, std::size_t last,
               reference::Values const& values, std::uint32_t outputs, std::vector<float>* margins) {
  for (std::size_t t = first; t < last; ++t) {
    for (std::size_t r = 0; r < values.rows; ++r) {
      float leaf = trees[t].value[static_cast<std::size_t>(trees[t].Leaf(values, r))];
      if (trees[t].weight != 1.0f) leaf = (0.0f + leaf) * trees[t].weight;
      (*margins)[r * outputs + trees[t].output] += leaf;
    }
  }
}

std::vector<float> LeavesByHand(std::vector<GivenTree> const& trees, std::size_t first, std::size_t last,
                                reference::Values const& values) {
  std::vector<float> leaves;
  for (std::size_t r = 0; r < values.rows; ++r) {
    for (std::size_t t = first; t < last; ++t) leaves.push_back(static_cast<float>(trees[t].Leaf(values, r)));
  }
  return leaves;
}

Forest MakeForest(std::vector<GivenTree> const& trees) {
  Forest forest;
  for (GivenTree const& tree : trees) tree.AddTo(&forest);
  return forest;
}

std::vector<std::uint32_t> Bits(std::vector<float> const& values) {
  std::vector<std::uint32_t> bits(values.size());
  if (!values.empty()) std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

std::vector<float> RandomMargins(std::size_t n, std::uint64_t seed) {
  Random random{seed};
  std::vector<float> margins(n);
  for (float& m : margins) m = random.Between(-2, 2);
  return margins;
}

}  // namespace xgbgpu::testing
