// Copies the features of a tree to a device and makes room for its nodes' sets.
#include "sample/feature_sets_cuda.h"

#include <algorithm>

namespace xgbgpu::cuda {

namespace {

constexpr char kPart[] = "feature sets";

void FillSet(std::vector<FeatureIndex> const& features, std::uint32_t words, std::uint32_t* bits) {
  std::fill_n(bits, words, 0U);
  for (FeatureIndex f : features) bits[f / 32] |= 1U << (f % 32);
}

}  // namespace

bool DeviceFeatureSets::Set(FeatureSampler const& sampler, std::vector<float> const& weights, std::size_t nodes,
                            Stream const& stream) {
  has_tree_set_ = sampler.Tree().size() < features_;
  has_level_sets_ = false;
  has_node_sets_ = sampler.per_level() || sampler.per_node();
  has_weights_ = has_node_sets_ && !weights.empty();
  bool changed = false;
  if (has_tree_set_) {
    changed = Reserve(&told_sets_, arena_, kPart, words());
    FillSet(sampler.Tree(), words(), upload_.Begin(words()));
    upload_.Send(told_sets_.data(), stream, "choosing features");
  }
  if (has_node_sets_) changed = Reserve(&node_sets_, arena_, kPart, nodes * words()) || changed;
  if (has_weights_ && weights != uploaded_) {
    changed = Reserve(&weights_, arena_, kPart, weights.size()) || changed;
    uploaded_ = weights;
    CopyToDevice(weights_.data(), uploaded_.data(), uploaded_.size(), stream, "choosing features");
  }
  return changed;
}

bool DeviceFeatureSets::SetLevels(FeatureSampler const& sampler, std::vector<std::vector<FeatureIndex>> const& levels,
                                  Stream const& stream) {
  has_tree_set_ = has_level_sets_ = true;
  has_node_sets_ = has_weights_ = false;
  std::size_t const all = (1 + levels.size()) * words();
  bool const changed = Reserve(&told_sets_, arena_, kPart, all);
  std::uint32_t* bits = upload_.Begin(all);
  FillSet(sampler.Tree(), words(), bits);
  for (auto const& level : levels) FillSet(level, words(), bits += words());
  upload_.Send(told_sets_.data(), stream, "choosing features");
  return changed;
}

FeatureSetsView DeviceFeatureSets::View(int level) const {
  FeatureSetsView view{has_tree_set_ ? told_sets_.data() : nullptr, has_node_sets_ ? node_sets_.data() : nullptr,
                       has_weights_ ? weights_.data() : nullptr, words(), words()};
  if (has_level_sets_) {
    view.of_nodes = told_sets_.data() + (1 + static_cast<std::size_t>(level)) * words();
    view.apart = 0;
  }
  return view;
}

}  // namespace xgbgpu::cuda
