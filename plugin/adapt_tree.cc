#include "adapt_tree.h"

#include <algorithm>
#include <type_traits>

namespace xgbgpu::plugin {

static_assert(std::is_same_v<xgboost::bst_node_t, NodeIndex>);

void CopyTree(Tree const& tree, xgboost::RegTree* out) {
  // A RegTree numbers children as they are made, two at a time, and so does the engine: repeat the splits in its order.
  std::vector<NodeIndex> inner;
  for (NodeIndex n = 0; n < static_cast<NodeIndex>(tree.size()); ++n) {
    if (!tree.IsLeaf(n)) inner.push_back(n);
  }
  std::sort(inner.begin(), inner.end(), [&](NodeIndex a, NodeIndex b) { return tree.left[a] < tree.left[b]; });

  constexpr NodeIndex kRoot = xgboost::RegTree::kRoot;
  (*out)[kRoot].SetLeaf(tree.leaf_value[kRoot]);
  out->Stat(kRoot) = {0.0f, tree.sum_hess[kRoot], tree.weight[kRoot]};
  for (NodeIndex const n : inner) {
    NodeIndex const left = tree.left[n];
    NodeIndex const right = left + 1;
    out->ExpandNode(n, tree.feature[n], tree.threshold[n], tree.default_left[n] != 0, tree.weight[n],
                    tree.leaf_value[left], tree.leaf_value[right], tree.gain[n], tree.sum_hess[n], tree.sum_hess[left],
                    tree.sum_hess[right]);
  }
}

std::vector<float> LeafValues(xgboost::RegTree const& tree) {
  auto const& nodes = tree.GetNodes();
  std::vector<float> values(nodes.size(), 0.0f);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].IsLeaf()) values[n] = nodes[n].LeafValue();
  }
  return values;
}

void CopyPositions(Trainer const& trainer, xgboost::HostDeviceVector<xgboost::bst_node_t>* out) {
  auto& positions = out->HostVector();
  positions.resize(trainer.data().rows());
  std::vector<std::uint8_t> sampled_out(positions.size());
  trainer.LeafPositions(positions, sampled_out);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (sampled_out[i] != 0) positions[i] = ~positions[i];
  }
}

}  // namespace xgbgpu::plugin
