#include "tree/leaf.h"

#include "split/constraint_ops.h"
#include "split/split_ops.h"

namespace xgbgpu {

namespace {

float Threshold(Cuts const& cuts, SplitCandidate const& split) {
  return split.bin == 0 ? cuts.min_values[split.feature] : cuts.values[cuts.ptr[split.feature] + split.bin - 1];
}

}  // namespace

Tree MakeTree(Span<Node const> nodes, Cuts const& cuts, SplitParams const& params, float learning_rate,
              Constraints const& constraints) {
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
    tree.weight[i] = constraints.monotone() ? BoundedWeight(params, sum, limits.bounds(static_cast<NodeIndex>(i)))
                                            : static_cast<float>(NodeWeight(params, sum));
    tree.leaf_value[i] = tree.weight[i] * learning_rate;
    if (node.left == kNoNode) continue;
    limits.AddChildren(params, static_cast<NodeIndex>(i), node.left, node.split);  // both come after their parent
    tree.feature[i] = node.split.feature;
    tree.split_bin[i] = cuts.ptr[node.split.feature] + node.split.bin;
    tree.threshold[i] = Threshold(cuts, node.split);
    tree.default_left[i] = node.split.default_left;
    tree.gain[i] = node.split.gain;
  }
  return tree;
}

}  // namespace xgbgpu
