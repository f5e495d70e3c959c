// Converts trees to narrow or wide nodes in breadth-first order.
#include "predict/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float_bits.h"
#include "base/message.h"

namespace xgbgpu {

namespace {

/// A tree as passed to Forest::Add.
struct GivenTree : TreeArrays {
  std::size_t number;  ///< number in its forest, for messages

  std::size_t size() const { return left.size(); }
  bool leaf(std::size_t n) const { return left[n] == kNoNode; }
  /// Returns the words of a node that splits by categories; otherwise none.
  Span<std::uint32_t const> Categories(std::size_t n) const {
    if (category_ptr.empty() || leaf(n)) return {};
    return category_bits.subspan(category_ptr[n], category_ptr[n + 1] - category_ptr[n]);
  }

  void CheckSizes() const;
  void CheckCategories() const;
  std::size_t Child(std::size_t parent, NodeIndex child) const;
};

void GivenTree::CheckSizes() const {
  if (size() == 0) Throw<InvalidArgument>("Tree ", number, " has no nodes; allowed: 1 or more");
  for (std::size_t const other : {right.size(), feature.size(), threshold_or_leaf.size(), default_left.size()}) {
    if (other != size()) {
      Throw<InvalidArgument>("Arrays of tree ", number, " have ", size(), " and ", other,
                             " elements; allowed: one for each node");
    }
  }
}

void GivenTree::CheckCategories() const {
  if (category_ptr.empty()) return;
  if (category_ptr.size() != size() + 1) {
    Throw<InvalidArgument>("category_ptr of tree ", number, " has ", category_ptr.size(),
                           " elements; allowed: one more than its ", size(), " nodes");
  }
  for (std::size_t n = 0; n < size(); ++n) {
    std::uint32_t const begin = category_ptr[n], end = category_ptr[n + 1];
    if (begin > end || end > category_bits.size()) {
      Throw<InvalidArgument>("Categories of node ", n, " of tree ", number, " are in words ", begin, " to ", end,
                             " (that one not) of ", category_bits.size(), "; allowed: words that there are");
    }
  }
}

std::size_t GivenTree::Child(std::size_t parent, NodeIndex child) const {
  if (child < 0 || static_cast<std::size_t>(child) >= size()) {
    Throw<InvalidArgument>("Child of node ", parent, " of tree ", number, " is ", child, "; allowed: 0 to ",
                           size() - 1);
  }
  return static_cast<std::size_t>(child);
}

constexpr NodeIndex kNobody = -1;  // the gap next to the root

/// Returns nodes in the forest's order: place → number in the given tree. The order: the root, a gap, then the children
/// of node after node.
std::vector<NodeIndex> BreadthFirst(GivenTree const& tree) {
  std::vector<std::uint8_t> seen(tree.size());
  std::vector<NodeIndex> order{0, kNobody};
  seen[0] = 1;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (order[place] == kNobody) continue;
    auto const n = static_cast<std::size_t>(order[place]);
    if (tree.leaf(n)) continue;
    for (NodeIndex const child : {tree.left[n], tree.right[n]}) {
      std::size_t const c = tree.Child(n, child);
      if (seen[c] != 0) Throw<InvalidArgument>("Node ", c, " of tree ", tree.number, " has more than one parent");
      seen[c] = 1;
      order.push_back(child);
    }
  }
  return order;
}

/// Appends a set to a tree's sets, and returns its number.
std::uint32_t AddSet(Span<std::uint32_t const> words, std::vector<std::uint32_t>* sets) {
  std::size_t used = std::min<std::size_t>(words.size(), kMostCategories / 32);
  while (used != 0 && words[used - 1] == 0) --used;
  auto const set = static_cast<std::uint32_t>(sets->size());
  sets->push_back(static_cast<std::uint32_t>(used));
  sets->insert(sets->end(), words.begin(), words.begin() + used);
  return set;
}

std::vector<ForestNode> MakeNodes(GivenTree const& tree, std::vector<NodeIndex> const& order,
                                  std::vector<std::uint32_t>* sets) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  std::vector<ForestNode> nodes(order.size(), ForestNode{0.0f, 0, 0, false});
  std::uint32_t children = 2;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (order[place] == kNobody) continue;
    auto const n = static_cast<std::size_t>(order[place]);
    float const value = tree.threshold_or_leaf[n];
    if (tree.leaf(n)) {
      nodes[place].value = value;
      continue;
    }
    if (tree.feature[n] >= WideNodes::kMostFeatures) {
      Throw<InvalidArgument>("Node ", n, " of tree ", tree.number, " tests feature ", tree.feature[n],
                             "; allowed: 0 to ", WideNodes::kMostFeatures - 1);
    }
    bool const default_left = tree.default_left[n] != 0;
    if (auto const categories = tree.Categories(n); !categories.empty()) {
      nodes[place] = {kNaN, children, tree.feature[n], default_left, AddSet(categories, sets)};
    } else {
      // No value is below NaN or -infinity.
      nodes[place] = {std::isnan(value) ? -kInf : value, children, tree.feature[n], default_left};
    }
    children += 2;
  }
  return nodes;
}

/// Returns true if both trees have the same nodes, but for the values of leaves.
template <typename Nodes>
bool SameSplits(ForestWord const* a, ForestWord const* b, std::uint32_t nodes) {
  for (std::uint32_t n = 0; n < nodes; ++n) {
    ForestNode const x = Nodes::Load(a, n), y = Nodes::Load(b, n);
    if (x.left != y.left) return false;
    if (x.leaf()) continue;
    bool const same = FloatBits(x.value) == FloatBits(y.value) && x.feature == y.feature && x.set == y.set;
    if (!same || x.default_left != y.default_left) return false;
  }
  return true;
}

}  // namespace

/// Returns true if `tree`, whose nodes are the last ones, has the splits of the last of the trees. `sets`: its sets.
bool Forest::IsTwin(ForestTree const& tree, std::vector<std::uint32_t> const& sets) const {
  if (trees_.empty() || trees_.back().words != tree.words || trees_.back().wide() != tree.wide()) return false;
  ForestWord const *const other = words(trees() - 1), *const own = words_.data() + tree.first;
  bool const same = tree.wide() ? SameSplits<WideNodes>(other, own, tree.words / WideNodes::kWords)
                                : SameSplits<NarrowNodes>(other, own, tree.words / NarrowNodes::kWords);
  auto const* const others_sets = set_words_.data() + first_set(trees() - 1);
  return same && std::equal(sets.begin(), sets.end(), others_sets, set_words_.data() + set_words_.size());
}

void Forest::Add(TreeArrays const& arrays, std::uint32_t output, float weight) {
  GivenTree const given{arrays, trees_.size()};
  given.CheckSizes();
  given.CheckCategories();
  if (output >= ForestTree::kMostOutputs) {
    Throw<InvalidArgument>("Output of tree ", given.number, " is ", output, "; allowed: 0 to ",
                           ForestTree::kMostOutputs - 1);
  }
  auto const order = BreadthFirst(given);
  std::vector<std::uint32_t> sets;
  auto const nodes = MakeNodes(given, order, &sets);
  FeatureIndex features = 0;
  for (ForestNode const& node : nodes) features = std::max(features, node.leaf() ? 0 : node.feature + 1);

  bool const wide = nodes.size() > NarrowNodes::kMostNodes || features > NarrowNodes::kMostFeatures ||
                    sets.size() > NarrowNodes::kMostSetWords;
  std::uint32_t const node_words = wide ? WideNodes::kWords : NarrowNodes::kWords;
  ForestTree tree{};
  tree.first = words_.size();
  tree.words = static_cast<std::uint32_t>(nodes.size()) * node_words;
  tree.kind = output | (wide ? ForestTree::kWide : 0U);
  words_.resize(tree.first + tree.words);
  ids_.resize(words_.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::size_t const to = tree.first + i * node_words;
    ids_[to] = order[i];
    if (wide) {
      WideNodes::Pack(nodes[i], words_.data() + to);
    } else {
      NarrowNodes::Pack(nodes[i], words_.data() + to);
    }
  }
  if (IsTwin(tree, sets)) tree.kind |= ForestTree::kTwin;
  set_words_.insert(set_words_.end(), sets.begin(), sets.end());
  set_ptr_.push_back(set_words_.size());
  trees_.push_back(tree);
  weights_.push_back(weight);
  features_ = std::max(features_, features);
  outputs_ = std::max(outputs_, output + 1);
}

void Forest::SetWeight(std::size_t tree, float weight) {
  if (tree >= trees()) Throw<InvalidArgument>("Tree ", tree, " of a forest of ", trees(), " is to have a weight");
  weights_[tree] = weight;
}

bool Forest::weighted() const {
  return std::any_of(weights_.begin(), weights_.end(), [](float weight) { return weight != 1.0f; });
}

void CheckTreeRange(std::size_t first, std::size_t last, std::size_t trees) {
  if (first > last || last > trees) {
    Throw<InvalidArgument>("Trees ", first, " to ", last, " (that one not) of a forest of ", trees,
                           "; allowed: 0 <= first <= last <= ", trees);
  }
}

void CheckMargins(OutputView<float> const& margins, std::uint64_t rows, std::uint32_t outputs) {
  if (margins.rows != rows) Throw<InvalidArgument>("Margins have ", margins.rows, " rows; the data have ", rows);
  if (margins.outputs < outputs) {
    Throw<InvalidArgument>("Margins have ", margins.outputs, " outputs; trees of the forest are for ", outputs);
  }
}

}  // namespace xgbgpu
