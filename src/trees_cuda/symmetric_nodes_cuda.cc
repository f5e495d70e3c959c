// Follows a symmetric tree on the host, and cuts weak levels off.
#include "trees_cuda/symmetric_nodes_cuda.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace xgbgpu::cuda {

void SymmetricNodes::Begin(TreeParts const& parts, GradientSum root, GradientFormat const& format) {
  Begin(parts.request.params, {SplitParams{parts.request.params, format}}, *parts.request.features,
        parts.splits.constraints(), {&root, 1});
}

void SymmetricNodes::Begin(TrainParams const& train, std::vector<SplitParams> params, FeatureSampler const& features,
                           Constraints const& constraints, Span<GradientSum const> root) {
  params_ = std::move(params);
  nodes_.assign(1, Node{});
  tree_.Begin(train, {params_.data(), static_cast<std::uint32_t>(params_.size())}, features, constraints, root);
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
