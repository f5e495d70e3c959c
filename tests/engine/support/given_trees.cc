// Makes random trees without training, and predicts with them by hand.
#include "support/given_trees.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace xgbgpu::testing {

namespace {

/// The categories of a tree's splits, as words of bits.
struct CategoryWords {
  std::vector<std::uint32_t> ptr;
  std::vector<std::uint32_t> bits;

  explicit CategoryWords(GivenTree const& tree) {
    if (tree.categories.empty()) return;
    ptr.push_back(0);
    for (auto const& listed : tree.categories) {
      std::size_t const begin = bits.size();
      for (std::uint32_t const c : listed) {
        bits.resize(std::max(bits.size(), begin + c / 32 + 1));
        bits[begin + c / 32] |= 1U << c % 32;
      }
      ptr.push_back(static_cast<std::uint32_t>(bits.size()));
    }
  }
  TreeArrays Arrays(GivenTree const& t) const {
    return {t.left, t.right, t.feature, t.value, t.default_left, ptr, bits};
  }
};

}  // namespace

void GivenTree::Resize(std::size_t nodes) {
  left.resize(nodes, kNoNode);
  right.resize(nodes, kNoNode);
  feature.resize(nodes);
  value.resize(nodes);
  default_left.resize(nodes);
}

void GivenTree::AddTo(Forest* forest) const {
  CategoryWords const words{*this};
  forest->Add(words.Arrays(*this), output, weight);
}

void GivenTree::AddTo(PathForest* forest, std::vector<float> const& covers) const {
  CategoryWords const words{*this};
  forest->Add(words.Arrays(*this), covers, output, weight);
}

void GivenTree::VisitBy(std::function<void(ModelTree const&)> const& visit, std::vector<float> const& covers) const {
  CategoryWords const words{*this};
  visit({words.Arrays(*this), covers, output, weight});
}

bool GivenTree::GoesLeft(std::size_t node, reference::Values const& values, std::size_t row) const {
  float const x = feature[node] < values.features ? values(row, feature[node]) : reference::kMissing;
  if (std::isnan(x)) return default_left[node] != 0;
  if (categories.empty() || categories[node].empty()) return x < value[node];
  bool const is_category = x >= 0 && x < 16777216.0f;
  auto const& listed = categories[node];
  return !is_category || !std::binary_search(listed.begin(), listed.end(), static_cast<std::uint32_t>(std::floor(x)));
}

NodeIndex GivenTree::Leaf(reference::Values const& values, std::size_t row) const {
  NodeIndex node = 0;
  for (;;) {
    auto const n = static_cast<std::size_t>(node);
    if (left[n] == kNoNode) return node;
    node = GoesLeft(n, values, row) ? left[n] : right[n];
  }
}

reference::Values RandomForestValues(DataShape const& shape, std::uint32_t levels, std::uint64_t seed) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kStrange[] = {-1.0f, -0.5f, -0.0f, 0.75f, 16777215.0f, 16777216.0f, 3e9f, 1e20f, kInf, -kInf};
  auto values = RandomValues(shape, seed);
  Random random{seed + 1000};
  GivenShape const trees{0, 0, 0, false, levels};
  for (std::size_t i = 0; levels != 0 && i < values.at.size(); ++i) {
    float& x = values.at[i];
    if (std::isnan(x) || !trees.categorical(static_cast<FeatureIndex>(i % values.features))) continue;
    x = random.Below(8) == 0 ? kStrange[random.Below(std::size(kStrange))]
                             : static_cast<float>(random.Below(levels + levels / 4 + 1));
  }
  return values;
}

namespace {

/// Returns one category, or any number of them, ascending.
std::vector<std::uint32_t> RandomCategories(std::uint32_t levels, Random* random) {
  auto const one = static_cast<std::uint32_t>(random->Below(levels));
  if (random->Below(3) == 0) return {one};
  std::vector<std::uint32_t> listed;
  for (std::uint32_t c = 0; c < levels; ++c) {
    if (random->Below(2) == 0 || c == one) listed.push_back(c);
  }
  return listed;
}

}  // namespace

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
    if (shape.categorical(tree.feature[n])) {
      tree.categories.resize(nodes);
      tree.categories[n] = RandomCategories(shape.levels, random);
    }
    leaves[i] = tree.left[n];
    leaves.push_back(tree.right[n]);
  }
  return tree;
}

GivenTree SymmetricTree(SymmetricShape const& shape, Random* random) {
  GivenTree tree;
  tree.output = static_cast<std::uint32_t>(random->Below(shape.outputs));
  if (random->Below(4) == 0) tree.weight = 0.7f;
  std::vector<std::size_t> level{0};
  for (int depth = 0; depth < shape.levels; ++depth) {
    auto const feature = static_cast<FeatureIndex>(random->Below(shape.features));
    float const threshold = random->Below(9) == 0 ? std::numeric_limits<float>::infinity() : random->Between(-2, 2);
    bool const default_left = random->Below(2) == 0;
    std::vector<std::uint32_t> listed;
    if (GivenShape{0, 0, 0, false, shape.categories}.categorical(feature)) {
      listed = RandomCategories(shape.categories, random);
    }
    std::vector<std::size_t> below;
    for (std::size_t const n : level) {
      if (depth > 2 && random->Below(10) == 0) continue;  // a leaf
      std::size_t const left = tree.size();
      tree.Resize(left + 2);
      tree.left[n] = static_cast<NodeIndex>(left);
      tree.right[n] = static_cast<NodeIndex>(left + 1);
      tree.feature[n] = feature;
      tree.value[n] = threshold;
      tree.default_left[n] = default_left ? 1 : 0;
      if (!listed.empty()) {
        tree.categories.resize(tree.size());
        tree.categories[n] = listed;
      }
      below.insert(below.end(), {left, left + 1});
    }
    level = below;
  }
  if (!tree.categories.empty()) tree.categories.resize(tree.size());
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode) tree.value[n] = random->Between(-1, 1);
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
