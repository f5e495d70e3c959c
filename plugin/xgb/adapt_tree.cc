// Copies trees of the engine to the trees of XGBoost.
#include "xgb/adapt_tree.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "xgb/series.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

static_assert(std::is_same_v<xgboost::bst_node_t, NodeIndex>);

namespace {

/// Reverses the bits of every word: a RegTree numbers them from the highest down.
std::vector<std::uint32_t> HighBitFirst(Span<std::uint32_t const> words) {
  std::vector<std::uint32_t> reversed(words.size());
  for (std::size_t i = 0; i < 32 * words.size(); ++i) {
    if (((words[i / 32] >> (i % 32)) & 1U) != 0) reversed[i / 32] |= 0x80000000U >> (i % 32);
  }
  return reversed;
}

}  // namespace

void CopyTree(Tree const& tree, float learning_rate, xgboost::RegTree* out) {
  // Until their values are set, leaves have what XGBoost notes of them for good.
  auto const noted = [&](NodeIndex leaf) { return tree.weight[leaf] * learning_rate; };
  // A RegTree numbers children as they are made, two at a time. The engine does, too: repeat the splits in its order.
  std::vector<NodeIndex> inner;
  for (NodeIndex n = 0; n < static_cast<NodeIndex>(tree.size()); ++n) {
    if (!tree.IsLeaf(n)) inner.push_back(n);
  }
  std::sort(inner.begin(), inner.end(), [&](NodeIndex a, NodeIndex b) { return tree.left[a] < tree.left[b]; });

  constexpr NodeIndex kRoot = xgboost::RegTree::kRoot;
  out->Stat(kRoot) = {0.0f, tree.sum_hess[kRoot], tree.weight[kRoot]};
  for (NodeIndex const n : inner) {
    NodeIndex const left = tree.left[n];
    NodeIndex const right = left + 1;
    if (auto const categories = HighBitFirst(tree.RightCategories(n)); !categories.empty()) {
      out->ExpandCategorical(n, tree.feature[n], {categories.data(), categories.size()}, tree.default_left[n] != 0,
                             tree.weight[n], noted(left), noted(right), tree.gain[n], tree.sum_hess[n],
                             tree.sum_hess[left], tree.sum_hess[right]);
      // The threshold of such a node is not read. XGBoost 1.7 leaves NaN there, which is no JSON. 3.0 and newer write
      // this number.
      (*out)[n].SetSplit(tree.feature[n], std::numeric_limits<float>::denorm_min(), tree.default_left[n] != 0);
    } else {
      out->ExpandNode(n, tree.feature[n], SavedThreshold(tree.threshold[n]), tree.default_left[n] != 0, tree.weight[n],
                      noted(left), noted(right), tree.gain[n], tree.sum_hess[n], tree.sum_hess[left],
                      tree.sum_hess[right]);
    }
  }
  for (NodeIndex n = 0; n < static_cast<NodeIndex>(tree.size()); ++n) {
    if (tree.IsLeaf(n)) (*out)[n].SetLeaf(tree.leaf_value[n]);
  }
}

std::vector<float> LeafValues(xgboost::RegTree const& tree) {
  auto const& nodes = tree.GetNodes(XGBGPU_SINCE_302(xgboost::DeviceOrd::CPU()));
  std::vector<float> values(nodes.size(), 0.0f);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].IsLeaf()) values[n] = nodes[n].LeafValue();
  }
  return values;
}

}  // namespace xgbgpu::plugin
