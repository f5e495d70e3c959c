// Samples the features of trees, levels and nodes on the host.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/message.h"
#include "sample/sample.h"

namespace xgbgpu {

namespace {

std::uint32_t SizeOf(std::uint32_t from, float fraction) {
  if (fraction >= 1.0f) return from;
  // In single precision, as XGBoost: 0.7f is less than 0.7, but its product with 10 rounds to 7.
  return std::max(1U, static_cast<std::uint32_t>(fraction * static_cast<float>(from)));
}

/// Returns the `count` features with the smallest keys, ascending; of equal keys, the smaller feature. key_of(draw,
/// feature) has the feature in its last bits, feature_of returns it.
template <typename KeyOf, typename FeatureOf>
std::vector<FeatureIndex> Smallest(std::vector<FeatureIndex> const& from, std::size_t count, RandomStream const& stream,
                                   KeyOf&& key_of, FeatureOf&& feature_of) {
  std::vector<decltype(key_of(0U, FeatureIndex{}))> keys(from.size());
  RandomBlock draws{};
  for (std::size_t i = 0; i < from.size(); ++i) {
    FeatureIndex const f = from[i];
    if (i == 0 || f / 4 != from[i - 1] / 4) draws = stream.Block(f / 4);
    keys[i] = key_of(draws.word[f % 4], f);
  }
  std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count - 1), keys.end());
  std::vector<FeatureIndex> chosen(count);
  std::transform(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), chosen.begin(), feature_of);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

FeatureIndex FeaturesOfTree(TrainParams const& params, FeatureIndex features) {
  return SizeOf(features, params.colsample_bytree);
}

FeatureIndex FeaturesOfLevel(TrainParams const& params, FeatureIndex features) {
  return SizeOf(FeaturesOfTree(params, features), params.colsample_bylevel);
}

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

std::vector<FeatureIndex> FeatureSampler::Level(int depth) const {
  return Choose(tree_, bylevel_,
                {seed_, RandomPurpose::kFeaturesOfLevel, tree_number_, static_cast<std::uint32_t>(depth)});
}

std::vector<FeatureIndex> FeatureSampler::Node(int depth, NodeIndex node) const {
  return Choose(Level(depth), bynode_,
                {seed_, RandomPurpose::kFeaturesOfNode, tree_number_, static_cast<std::uint32_t>(node)});
}

FeatureCounts FeatureSampler::counts() const {
  std::uint32_t const level = SizeOf(static_cast<std::uint32_t>(tree_.size()), bylevel_);
  return {per_level() ? level : 0, per_node() ? SizeOf(level, bynode_) : 0};
}

std::vector<FeatureIndex> FeatureSampler::Choose(std::vector<FeatureIndex> const& from, float fraction,
                                                 RandomStream const& stream) const {
  if (fraction >= 1.0f) return from;
  std::size_t const count = SizeOf(static_cast<std::uint32_t>(from.size()), fraction);
  if (weights_.empty()) {
    auto const key = [](std::uint32_t draw, FeatureIndex f) { return FeatureKey(draw) | f; };
    return Smallest(from, count, stream, key, [](std::uint64_t k) { return static_cast<FeatureIndex>(k); });
  }
  auto const key = [&](std::uint32_t draw, FeatureIndex f) { return std::pair{FeatureKey(draw, weights_[f]), f}; };
  return Smallest(from, count, stream, key, [](auto const& k) { return k.second; });
}

}  // namespace xgbgpu
