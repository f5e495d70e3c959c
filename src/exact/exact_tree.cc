// Checks the parameters of exact trees, selects nodes to split, prunes grown trees and makes the finished ones.
#include "base/message.h"
#include "exact/exact.h"
#include "growth/grow_queue.h"
#include "growth/make_tree.h"

namespace xgbgpu {

NodeIndex ExactNodes::Add(NodeIndex parent, GradientSum sum) {
  Node node;
  node.parent = parent;
  node.depth = parent == kNoNode ? 0 : (*this)[parent].depth + 1;
  node.sum = sum;
  nodes.push_back(node);
  thresholds.push_back(0.0f);
  return static_cast<NodeIndex>(nodes.size()) - 1;
}

void ValidateExact(TrainParams const& params) {
  if (params.grow_policy != GrowPolicy::kDepthWise) {
    Throw<Unsupported>("Parameter grow_policy is '",
                       params.grow_policy == GrowPolicy::kSymmetric ? "symmetric" : "lossguide",
                       "', which exact trees (tree_method gpu_exact) do not have; allowed with gpu_exact: depthwise");
  }
  if (params.max_leaves != 0) {
    Throw<Unsupported>("Parameter max_leaves is ", params.max_leaves,
                       ", which exact trees (tree_method gpu_exact) do not have; allowed with gpu_exact: 0");
  }
  if (params.max_depth == 0) {
    Throw<Unsupported>(
        "Parameter max_depth is 0 (no limit), which exact trees (tree_method gpu_exact) do not have; "
        "allowed with gpu_exact: 1 or more");
  }
  if (params.sampling_method != SamplingMethod::kUniform) {
    Throw<Unsupported>("Parameter sampling_method is '",
                       params.sampling_method == SamplingMethod::kGoss ? "goss" : "gradient_based",
                       "', which exact trees (tree_method gpu_exact) do not have; allowed with gpu_exact: uniform");
  }
}

std::vector<NodeIndex> SelectExactNodes(ExactNodes const& nodes, NodeIndex first, TrainParams const& params) {
  GrowQueue queue;
  TrainParams all = params;
  all.min_split_loss = 0.0f;  // Prune applies min_split_loss to the grown tree
  queue.Reset(all);
  for (auto n = static_cast<std::size_t>(first); n < nodes.nodes.size(); ++n) {
    queue.Push(nodes.nodes, static_cast<NodeIndex>(n));
  }
  return queue.Pop(nodes.nodes);
}

GradientFormat ToExactFormat(GradientFormat format) {
  constexpr int kCompactBits = 30;
  if (!format.narrow) return format;
  int const more = kCompactBits - kNarrowBits;
  return {false, format.grad_shift + more, format.hess_shift + more};
}

ExactNodes Prune(ExactNodes const& grown, float min_split_loss, std::vector<NodeIndex>* node_of) {
  std::size_t const size = grown.nodes.size();
  std::vector<NodeIndex> left(size);
  for (std::size_t n = 0; n < size; ++n) left[n] = grown.nodes[n].left;
  for (std::size_t n = size; n-- > 0;) {  // children come after their parents
    if (left[n] == kNoNode || grown.nodes[n].split.gain >= min_split_loss) continue;
    auto const child = static_cast<std::size_t>(left[n]);
    if (left[child] == kNoNode && left[child + 1] == kNoNode) left[n] = kNoNode;
  }
  ExactNodes kept;
  node_of->assign(size, kNoNode);
  for (std::size_t n = 0; n < size; ++n) {
    NodeIndex const parent = grown.nodes[n].parent;
    if (parent != kNoNode && left[static_cast<std::size_t>(parent)] == kNoNode) {
      (*node_of)[n] = (*node_of)[static_cast<std::size_t>(parent)];
      left[n] = kNoNode;  // nodes below go to the same leaf
      continue;
    }
    NodeIndex const new_parent = parent == kNoNode ? kNoNode : (*node_of)[static_cast<std::size_t>(parent)];
    NodeIndex const own = kept.Add(new_parent, grown.nodes[n].sum);
    (*node_of)[n] = own;
    if (left[n] != kNoNode) {
      kept[own].split = grown.nodes[n].split;
      kept.thresholds.back() = grown.thresholds[n];
    }
    bool const is_left = parent != kNoNode && static_cast<NodeIndex>(n) == left[static_cast<std::size_t>(parent)];
    if (is_left) kept[new_parent].left = own;
  }
  return kept;
}

Tree MakeExactTree(ExactNodes const& nodes, SplitParams const& params, float learning_rate,
                   Constraints const& constraints) {
  Tree tree = MakeTreeWithoutThresholds(nodes.nodes, params, learning_rate, constraints);
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) {
    if (nodes.nodes[i].left != kNoNode) tree.threshold[i] = nodes.thresholds[i];
  }
  return tree;
}

}  // namespace xgbgpu
