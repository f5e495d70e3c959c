// Copies the features of a tree to a device and makes room for its nodes' sets.
#include "sample/feature_sets_cuda.h"

#include <algorithm>

namespace xgbgpu::cuda {

bool DeviceFeatureSets::Set(FeatureSampler const& sampler, std::vector<float> const& weights, std::size_t nodes,
                            Stream const& stream) {
  constexpr char const* kPart = "feature sets";
  std::uint32_t const words = View().words;
  has_tree_set_ = sampler.Tree().size() < features_;
  has_node_sets_ = sampler.per_level() || sampler.per_node();
  has_weights_ = has_node_sets_ && !weights.empty();
  bool changed = false;
  if (has_tree_set_) {
    changed = Reserve(&tree_set_, arena_, kPart, words);
    std::uint32_t* const bits = upload_.Begin(words);
    std::fill_n(bits, words, 0U);
    for (FeatureIndex f : sampler.Tree()) bits[f / 32] |= 1U << (f % 32);
    upload_.Send(tree_set_.data(), stream, "choosing features");
  }
  if (has_node_sets_) changed = Reserve(&node_sets_, arena_, kPart, nodes * words) || changed;
  if (has_weights_ && weights != uploaded_) {
    changed = Reserve(&weights_, arena_, kPart, weights.size()) || changed;
    uploaded_ = weights;
    CopyToDevice(weights_.data(), uploaded_.data(), uploaded_.size(), stream, "choosing features");
  }
  return changed;
}

FeatureSetsView DeviceFeatureSets::View() const {
  return {has_tree_set_ ? tree_set_.data() : nullptr, has_node_sets_ ? node_sets_.data() : nullptr,
          has_weights_ ? weights_.data() : nullptr, (features_ + 31) / 32};
}

}  // namespace xgbgpu::cuda
