// Makes the tree of a model from the nodes of a grown tree.
#include "growth/make_tree.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "split/constraint_ops.h"
#include "split/split_ops.h"

namespace xgbgpu {

namespace {

float Threshold(Cuts const& cuts, SplitCandidate const& split) {
  if (split.categorical) return std::numeric_limits<float>::quiet_NaN();
  return split.bin == 0 ? cuts.min_values[split.feature] : cuts.values[cuts.ptr[split.feature] + split.bin - 1];
}

/// Copies the sets of the splits that were made.
void SetCategories(Span<Node const> nodes, Cuts const& cuts, CategorySets const& sets, Tree* tree) {
  auto const splits_on_categories = [](Node const& node) { return node.left != kNoNode && node.split.categorical; };
  if (std::none_of(nodes.begin(), nodes.end(), splits_on_categories)) return;
  tree->category_ptr.reserve(nodes.size() + 1);
  tree->category_ptr.push_back(0);
  for (Node const& node : nodes) {
    if (splits_on_categories(node)) {
      std::uint32_t const* const set = sets.set(node.split.bin);
      BinIndex const words = (cuts.bins(node.split.feature) + 31) / 32;
      tree->category_bits.insert(tree->category_bits.end(), set, set + words);
      // A device also has a bit for missing values, beyond the last category.
      tree->category_bits.back() &= 0xFFFFFFFFU >> (32 * words - cuts.bins(node.split.feature));
    }
    tree->category_ptr.push_back(static_cast<std::uint32_t>(tree->category_bits.size()));
  }
}

}  // namespace

Tree MakeTreeWithoutThresholds(Span<Node const> nodes, SplitParams const& params, float learning_rate,
                               Constraints const& constraints, Span<float const> weights) {
  Tree tree;
  tree.Resize(nodes.size());
  NodeLimits limits;
  limits.Reset(constraints);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node const& node = nodes[i];
    LossSum const sum = ToLoss(params, node.sum);
    tree.parent[i] = node.parent;
    tree.left[i] = node.left;
    tree.sum_hess[i] = static_cast<float>(sum.hess);
    WeightBounds const bounds = limits.bounds(static_cast<NodeIndex>(i));
    tree.weight[i] = weights.empty() ? LeafWeight(params, sum, constraints.monotone() ? &bounds : nullptr) : weights[i];
    tree.leaf_value[i] = tree.weight[i] * learning_rate;
    if (node.left == kNoNode) continue;
    limits.AddChildren(params, static_cast<NodeIndex>(i), node.left, node.split);  // both come after their parent
    tree.feature[i] = node.split.feature;
    tree.default_left[i] = node.split.default_left;
    tree.gain[i] = node.split.gain;
  }
  return tree;
}

Tree MakeTree(GrownTree const& grown, Cuts const& cuts, SplitParams const& params, float learning_rate,
              Constraints const& constraints) {
  Span<Node const> const nodes = grown.nodes;
  Tree tree = MakeTreeWithoutThresholds(nodes, params, learning_rate, constraints, grown.weights);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    SplitCandidate const& split = nodes[i].split;
    if (nodes[i].left == kNoNode) continue;
    tree.split_bin[i] = cuts.ptr[split.feature] + (split.categorical ? 0 : split.bin);
    tree.threshold[i] = Threshold(cuts, split);
  }
  SetCategories(nodes, cuts, grown.sets, &tree);
  return tree;
}

VectorTree MakeVectorTree(GrownTree const& grown, Cuts const& cuts, Span<SplitParams const> params, float learning_rate,
                          std::function<VectorNumbers(NodeIndex n)> const& numbers_of) {
  VectorTree tree;
  tree.outputs = static_cast<std::uint32_t>(params.size());
  std::vector<float> const none(grown.nodes.size());
  tree.shape = MakeTree({grown.nodes, none, grown.sets}, cuts, params[0], learning_rate);
  tree.shape.weight.clear();
  tree.shape.leaf_value.clear();
  for (std::size_t n = 0; n < grown.nodes.size(); ++n) {
    VectorNumbers const numbers = numbers_of(static_cast<NodeIndex>(n));
    double hess = 0.0;
    for (std::size_t k = 0; k < params.size(); ++k) {
      hess += ToLoss(params[k], numbers.sums[k]).hess;
      tree.weight.push_back(numbers.weights[k]);
      tree.leaf_value.push_back(numbers.weights[k] * learning_rate);
    }
    tree.shape.sum_hess[n] = static_cast<float>(hess);
  }
  return tree;
}

}  // namespace xgbgpu
