// Orders the columns of a tree by the last level that needs them.
#include "sample/level_columns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace xgbgpu {

namespace {

/// By how many standard deviations of what a tree needs the first sizes are above its mean. More columns cost every
/// tree a little; fewer cost a new recording when a tree needs more.
constexpr double kDeviations = 3;

/// Returns about how many of n features `samples` independent samples of k features have together.
///
/// A feature is in none with the chance q = (1 - k/n)^samples; two features with
/// ((n - k)(n - k - 1) / (n (n - 1)))^samples.
FeatureIndex LikelyUnion(FeatureIndex features, FeatureIndex of_sample, int samples) {
  double const n = features, k = of_sample;
  if (features < 2) return features;
  double const q = std::pow(1 - k / n, samples), pair = std::pow((n - k) * (n - k - 1) / (n * (n - 1)), samples);
  double const variance = n * q * (1 - q) + n * (n - 1) * (pair - q * q);
  double const likely = n * (1 - q) + kDeviations * std::sqrt(std::max(0.0, variance));
  return std::min(features, static_cast<FeatureIndex>(std::ceil(likely)));
}

}  // namespace

LevelColumns::LevelColumns(TrainParams const& params, FeatureIndex features, int levels)
    : of_tree_{FeaturesOfTree(params, features)}, of_level_{FeaturesOfLevel(params, features)} {
  for (int level = 0; level < levels; ++level) expected_.push_back(LikelyUnion(of_tree_, of_level_, levels - level));
  sizes_ = expected_;
}

bool LevelColumns::Take(FeatureSampler const& sampler) {
  constexpr int kNone = -1;
  std::vector<FeatureIndex> const& all = sampler.Tree();
  std::vector<int> last(std::size_t{all.back()} + 1, kNone);
  sets_.clear();
  for (int level = 0; level < levels(); ++level) {
    sets_.push_back(sampler.Level(level));
    for (FeatureIndex f : sets_.back()) last[f] = level;
  }
  order_.clear();
  bool grows = false;
  for (int level = levels() - 1; level >= kNone; --level) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(order_), [&](FeatureIndex f) { return last[f] == level; });
    if (level == kNone) break;
    FeatureIndex& size = sizes_[static_cast<std::size_t>(level)];
    auto const needed = static_cast<FeatureIndex>(order_.size());
    grows = grows || needed > size;
    size = std::max(size, needed);
  }
  return grows;
}

std::vector<FeatureIndex> LevelColumns::Order(FeatureIndex run) const {
  std::vector<FeatureIndex> features(order_.begin(), order_.begin() + columns());
  for (std::size_t first = 0; first < features.size(); first += run) {
    auto const begin = features.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(run, features.size() - first)));
  }
  return features;
}

}  // namespace xgbgpu
