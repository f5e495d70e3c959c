// Takes trees apart into paths for contributions, and selects paths.
#include "predict/contributions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message.h"
#include "predict/interactions.h"
#include "predict/path_sets.h"
#include "predict/quadrature.h"

namespace xgbgpu {

namespace {

constexpr std::uint32_t kNoRule = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kGapPlace = 1;  // next to the root

void CheckCovers(Span<float const> sum_hess, std::size_t nodes, std::size_t tree) {
  if (sum_hess.size() != nodes) {
    Throw<InvalidArgument>("Arrays of tree ", tree, " have ", nodes, " and (sum_hess) ", sum_hess.size(),
                           " elements; allowed: one for each node");
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    if (!(sum_hess[n] >= 0.0f && std::isfinite(sum_hess[n]))) {
      Throw<InvalidArgument>("sum_hess of node ", n, " of tree ", tree, " is ", sum_hess[n],
                             "; allowed: finite, 0 or more");
    }
  }
}

/// The last added tree, place for place.
struct PlacedTree {
  float weight;
  std::vector<ForestNode> nodes;
  std::vector<std::uint32_t> parents;
  std::vector<double> shares;  ///< part of the parent's cover
  std::vector<double> means;

  PlacedTree(Forest const& forest, Span<float const> sum_hess);
  /// Returns the leaf's term in margins.
  float Leaf(std::size_t place) const {
    return weight == 1.0f ? nodes[place].value : WeightedLeaf(nodes[place].value, weight);
  }

 private:
  void SetShares(Forest const& forest, Span<float const> sum_hess, std::uint32_t node_words);
};

PlacedTree::PlacedTree(Forest const& forest, Span<float const> sum_hess) : weight{forest.weights().back()} {
  std::size_t const t = forest.trees() - 1;
  bool const wide = forest.tree(t).wide();
  std::uint32_t const node_words = wide ? WideNodes::kWords : NarrowNodes::kWords;
  nodes.resize(forest.tree(t).words / node_words);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i] = wide ? WideNodes::Load(forest.words(t), i) : NarrowNodes::Load(forest.words(t), i);
  }
  SetShares(forest, sum_hess, node_words);
  means.resize(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    ForestNode const& node = nodes[i];
    means[i] = node.leaf() ? double{Leaf(i)}
                           : means[node.left] * shares[node.left] + means[node.left + 1] * shares[node.left + 1];
  }
}

void PlacedTree::SetShares(Forest const& forest, Span<float const> sum_hess, std::uint32_t node_words) {
  NodeIndex const* const ids = forest.ids(forest.trees() - 1);
  auto const cover = [&](std::size_t place) {
    return double{sum_hess[static_cast<std::size_t>(ids[place * node_words])]};
  };
  parents.resize(nodes.size());
  shares.resize(nodes.size(), 1.0);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].leaf()) continue;
    double const all = cover(i);
    for (std::uint32_t const child : {nodes[i].left, nodes[i].left + 1}) {
      parents[child] = i;
      shares[child] = all > 0 ? cover(child) / all : 0.5;
    }
  }
}

/// An element that accepts every value, until tests narrow it.
struct OpenElement {
  FeatureIndex feature;
  float lower{-std::numeric_limits<float>::infinity()};
  float upper{std::numeric_limits<float>::quiet_NaN()};
  bool missing{true};
  double zero{1.0};
  std::uint64_t set{kNoElementSet};

  /// Narrows the element by a test. `passes`: the set of the place behind the test.
  void Narrow(ForestNode const& test, bool goes_left, double share, std::uint64_t passes) {
    if (test.set != kNoSet) {
      if (set == kNoElementSet) set = passes;  // of the deepest test, which includes the tests above
    } else if (goes_left) {
      upper = std::isnan(upper) ? test.value : std::min(upper, test.value);
    } else {
      lower = std::max(lower, test.value);
    }
    missing = missing && test.default_left == goes_left;
    zero *= share;
  }
  PathElement Close() const { return {lower, upper, static_cast<float>(zero), feature | (missing ? 1U << 31 : 0U)}; }
};

/// Returns the tests from the root to a leaf, from the leaf upwards. `sets` of the places, or empty.
std::vector<OpenElement> ElementsOf(PlacedTree const& tree, std::vector<std::uint64_t> const& sets,
                                    std::uint32_t leaf) {
  std::vector<OpenElement> open;
  for (std::uint32_t place = leaf; place != kRootPlace; place = tree.parents[place]) {
    ForestNode const& test = tree.nodes[tree.parents[place]];
    auto element =
        std::find_if(open.begin(), open.end(), [&](OpenElement const& e) { return e.feature == test.feature; });
    if (element == open.end()) element = open.insert(open.end(), OpenElement{test.feature});
    element->Narrow(test, place == test.left, tree.shares[place], sets.empty() ? kNoElementSet : sets[place]);
  }
  return open;
}

QuadratureGroup MakeGroup(std::vector<QuadratureNode> const& nodes, std::size_t first) {
  QuadratureGroup group;
  for (std::size_t n = 0; n < kGroupNodes; ++n) {
    QuadratureNode const node = first + n < nodes.size() ? nodes[first + n] : QuadratureNode{0.5, 0.5, 0.0};
    group.at[n] = static_cast<float>(node.at);
    group.rest[n] = static_cast<float>(node.rest);
    group.weight[n] = static_cast<float>(node.weight);
    group.inverse_rest[n] = static_cast<float>(1.0 / node.rest);
  }
  return group;
}

}  // namespace

void PathForest::Add(TreeArrays const& arrays, Span<float const> sum_hess, std::uint32_t output, float weight) {
  CheckCovers(sum_hess, arrays.left.size(), trees());
  forest_.Add(arrays, output, weight);
  std::size_t const t = trees() - 1;
  ForestTree const& added = forest_.tree(t);
  PlacedTree const tree{forest_, sum_hess};
  std::vector<std::uint64_t> sets;
  if (forest_.categorical()) {
    set_of_element_.resize(elements_.size(), kNoElementSet);
    sets = AddPathSets(tree.nodes, tree.parents, forest_.sets(t), &set_words_);
  }
  std::size_t const node_words = added.words / tree.nodes.size();
  means_.resize(added.first + added.words);
  bool first_path = true;
  for (std::uint32_t place = 0; place < tree.nodes.size(); ++place) {
    means_[added.first + place * node_words] = static_cast<float>(tree.means[place]);
    if (!tree.nodes[place].leaf() || place == kRootPlace || place == kGapPlace) continue;
    auto const open = ElementsOf(tree, sets, place);
    for (OpenElement const& e : open) {
      elements_.push_back(e.Close());
      if (forest_.categorical()) set_of_element_.push_back(e.set);
    }
    AddPath(static_cast<std::uint32_t>(open.size()), tree.Leaf(place), first_path);
    first_path = false;
  }
  root_means_.push_back(tree.means[kRootPlace]);
  last_chunk_.push_back(chunks_.size());
}

void PathForest::AddPath(std::uint32_t count, float value, bool first_of_tree) {
  Path path{elements_.size() - count, count, value, RuleFor(count), 0};
  std::uint64_t const entries = std::uint64_t{count} * path.groups();
  bool const alone = entries > kChunkEntries;
  bool const joins =
      !first_of_tree && !alone && chunks_.back().entries != 0 && chunks_.back().entries + entries <= kChunkEntries;
  if (!joins) chunks_.push_back({paths_.size(), 0, 0});
  path.entry = chunks_.back().entries;
  chunks_.back().paths += 1;
  if (!alone) chunks_.back().entries += static_cast<std::uint32_t>(entries);
  paths_.push_back(path);
}

std::uint32_t PathForest::RuleFor(std::uint32_t elements) {
  std::uint32_t const n = (elements + 1) / 2;
  if (rules_.size() <= n) rules_.resize(std::size_t{n} + 1, kNoRule);
  if (rules_[n] == kNoRule) {
    rules_[n] = static_cast<std::uint32_t>(groups_.size());
    auto const nodes = GaussLegendre(static_cast<int>(n));
    for (std::size_t first = 0; first < nodes.size(); first += kGroupNodes) groups_.push_back(MakeGroup(nodes, first));
  }
  return rules_[n];
}

PathSelection SelectPaths(PathForest const& forest, std::size_t first, std::size_t last, std::uint32_t outputs) {
  CheckTreeRange(first, last, forest.trees());
  PathSelection selection;
  selection.tree_ptr.push_back(0);
  selection.chunk_ptr.push_back(0);
  for (std::uint32_t o = 0; o < outputs; ++o) {
    double mean = 0;
    for (std::size_t t = first; t < last; ++t) {
      if (forest.forest().tree(t).output() != o) continue;
      mean += forest.mean(t);
      selection.trees.push_back(static_cast<std::uint32_t>(t));
      for (std::size_t c = forest.first_chunk(t); c < forest.first_chunk(t + 1); ++c) {
        selection.chunks.push_back(forest.chunks()[c]);
      }
    }
    selection.tree_ptr.push_back(selection.trees.size());
    selection.chunk_ptr.push_back(selection.chunks.size());
    selection.means.push_back(static_cast<float>(mean));
  }
  return selection;
}

void CheckContributions(ContributionsView const& out, RowSource const& source, PathForest const& forest) {
  if (out.rows != source.rows()) {
    Throw<InvalidArgument>("Contributions have ", out.rows, " rows; the data have ", source.rows());
  }
  if (out.outputs < forest.outputs()) {
    Throw<InvalidArgument>("Contributions have ", out.outputs, " outputs; trees of the forest are for ",
                           forest.outputs());
  }
  if (out.features < std::max(source.features(), forest.features())) {
    Throw<InvalidArgument>("Contributions have ", out.features, " features; the data have ", source.features(),
                           ", trees of the forest test ", forest.features());
  }
}

void CheckInteractions(InteractionsView const& out, RowSource const& source, PathForest const& forest) {
  CheckContributions({nullptr, out.rows, out.outputs, out.features}, source, forest);
}

}  // namespace xgbgpu
