// Follows a symmetric tree on the host, and cuts weak levels off.
#include "trees_cuda/symmetric_nodes_cuda.h"

#include <cstddef>

namespace xgbgpu::cuda {

void SymmetricNodes::Begin(TreeParts const& parts, GradientSum root, GradientFormat const& format) {
  params_.emplace(parts.request.params, format);
  nodes_.assign(1, Node{});
  LevelParams const of_level{&*params_, 1};
  tree_.Begin(parts.request.params, of_level, *parts.request.features, parts.splits.constraints(), {&root, 1});
}

std::vector<NodeIndex> SymmetricNodes::End(Span<Node const> made) {
  tree_.Cut();
  std::vector<NodeIndex> leaf(made.size(), kNoNode);
  for (std::size_t n = 0; n < made.size(); ++n) {
    if (made[n].left == kNoNode) leaf[n] = tree_.kept()[n];
  }
  nodes_.assign(tree_.nodes().begin(), tree_.nodes().end());
  for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_[n].rows = made[n].rows;
  return leaf;
}

}  // namespace xgbgpu::cuda
