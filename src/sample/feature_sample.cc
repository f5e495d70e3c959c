#include <algorithm>
#include <numeric>
#include <utility>

#include "core/message.h"
#include "core/portable_math.h"
#include "sample/sample.h"

namespace xgbgpu {

FeatureSampler::FeatureSampler(TrainParams const& params, FeatureIndex features, std::uint32_t tree)
    : seed_{params.seed},
      tree_number_{tree},
      bylevel_{params.colsample_bylevel},
      bynode_{params.colsample_bynode},
      all_{params.colsample_bytree >= 1.0f && bylevel_ >= 1.0f && bynode_ >= 1.0f},
      weights_{params.feature_weights},
      tree_(features) {
  if (!weights_.empty() && weights_.size() != features) {
    Throw<InvalidArgument>("feature_weights has ", weights_.size(), " elements; allowed: one for each of the ",
                           features, " features");
  }
  std::iota(tree_.begin(), tree_.end(), FeatureIndex{0});
  tree_ = Choose(tree_, params.colsample_bytree, {seed_, RandomPurpose::kFeaturesOfTree, tree_number_, 0});
}

std::vector<FeatureIndex> FeatureSampler::Node(int depth, NodeIndex node) const {
  auto const level = Choose(tree_, bylevel_,
                            {seed_, RandomPurpose::kFeaturesOfLevel, tree_number_, static_cast<std::uint32_t>(depth)});
  return Choose(level, bynode_,
                {seed_, RandomPurpose::kFeaturesOfNode, tree_number_, static_cast<std::uint32_t>(node)});
}

std::vector<FeatureIndex> FeatureSampler::Choose(std::vector<FeatureIndex> const& from, float fraction,
                                                 RandomStream const& stream) const {
  if (fraction >= 1.0f) return from;
  // In single precision, as XGBoost does: 0.7f is less than 0.7, but its product with 10 rounds to 7.
  auto const size = static_cast<std::size_t>(fraction * static_cast<float>(from.size()));
  std::size_t const count = std::max<std::size_t>(1, size);

  constexpr float kLeastWeight = 1e-6f;  // a feature of weight 0 is taken last, but can be taken: as in XGBoost
  std::vector<std::pair<double, FeatureIndex>> keys(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    double const u = (static_cast<double>(stream.Word(from[i])) + 0.5) * (1.0 / 4294967296.0);
    double const key = weights_.empty() ? u : -PortableLog(u) / std::max(weights_[from[i]], kLeastWeight);
    keys[i] = {key, from[i]};
  }
  std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count - 1), keys.end());
  std::vector<FeatureIndex> chosen(count);
  std::transform(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), chosen.begin(),
                 [](auto const& key) { return key.second; });
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace xgbgpu
