// sample: which rows and which features count in one tree.
#include "sample/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/portable_math.h"
#include "reference/gradient.h"
#include "support/data.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::WhatIsWrong;

/// By Hoeffding's inequality the number of successes in n independent trials is further than this, t, from its
/// expectation with a chance below 2 exp(-2 t²/n) = 1e-9.
double HoeffdingBound(std::size_t n) { return std::sqrt(static_cast<double>(n) * 10.8); }

std::vector<RowIndex> Sample(std::uint64_t seed, std::uint32_t tree, float subsample, std::size_t n, int threads) {
  std::vector<RowRecord> records(n);
  std::vector<std::size_t> counts(host::SampleChunks(n));
  records.resize(host::SampleRows({seed, RandomPurpose::kRowSample, tree, 0}, subsample, n, counts, records, threads));
  std::vector<RowIndex> rows;
  for (RowRecord const& record : records) rows.push_back(record.row);
  return rows;
}

class RowSampleTest : public ::testing::TestWithParam<int> {};

TEST_P(RowSampleTest, EqualsTheReference) {
  for (std::size_t n : {1U, 3U, 4U, 1000U, 32768U, 100001U}) {
    for (float fraction : {0.01f, 0.3f, 0.5f, 0.999f, 1.0f}) {
      EXPECT_EQ(Sample(77, 5, fraction, n, GetParam()), reference::SampleRows(n, fraction, 77, 5))
          << n << " " << fraction;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, RowSampleTest, ::testing::Values(1, 2, 3, 7));

TEST(RowSampleTest, ShareOfRows) {
  constexpr std::size_t kRows = 200000;
  for (float fraction : {0.001f, 0.1f, 0.5f, 0.9f}) {
    for (std::uint32_t tree : {0U, 1U, 65536U}) {
      auto const rows = Sample(0, tree, fraction, kRows, 2);
      EXPECT_NEAR(static_cast<double>(rows.size()), static_cast<double>(fraction) * kRows, HoeffdingBound(kRows));
    }
  }
}

TEST(RowSampleTest, TreesAndSeedsDrawIndependently) {
  // A quarter of the rows is in both of two independent samples of 1/2.
  constexpr std::size_t kRows = 100000;
  auto const first = Sample(1, 0, 0.5f, kRows, 2);
  for (auto const& second : {Sample(1, 1, 0.5f, kRows, 2), Sample(2, 0, 0.5f, kRows, 2)}) {
    std::vector<RowIndex> both;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
    EXPECT_NEAR(static_cast<double>(both.size()), kRows / 4.0, HoeffdingBound(kRows));
  }
}

TrainParams ColumnParams(float bytree, float bylevel, float bynode) {
  TrainParams params;
  params.colsample_bytree = bytree;
  params.colsample_bylevel = bylevel;
  params.colsample_bynode = bynode;
  return params;
}

TEST(FeatureSampleTest, EverythingWithoutSampling) {
  FeatureSampler const sampler{TrainParams{}, 10, 0};
  EXPECT_TRUE(sampler.all());
  std::vector<FeatureIndex> expected(10);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(sampler.Tree(), expected);
  EXPECT_EQ(sampler.Node(3, 9), expected);
}

TEST(FeatureSampleTest, SizesMultiplyAndSetsNest) {
  FeatureSampler const sampler{ColumnParams(0.5f, 0.5f, 0.5f), 80, 3};
  EXPECT_FALSE(sampler.all());
  EXPECT_EQ(sampler.Tree().size(), 40U);
  std::set<std::vector<FeatureIndex>> sets;
  for (int depth = 0; depth < 4; ++depth) {
    std::set<FeatureIndex> of_level;
    for (NodeIndex node = 0; node < 50; ++node) {
      auto const chosen = sampler.Node(depth, node);
      EXPECT_EQ(chosen.size(), 10U);
      EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
      EXPECT_TRUE(std::includes(sampler.Tree().begin(), sampler.Tree().end(), chosen.begin(), chosen.end()));
      EXPECT_EQ(chosen, sampler.Node(depth, node)) << "must replay";
      of_level.insert(chosen.begin(), chosen.end());
      sets.insert(chosen);
    }
    // Fifty draws of 10 out of the level's 20 miss one of them with a chance of 20 · 2^-50.
    EXPECT_EQ(of_level.size(), 20U);
  }
  EXPECT_GT(sets.size(), 100U);
}

/// Returns the first `count` of `from` in the order of -log(draw) / weight, or of draws if there are no weights.
std::vector<FeatureIndex> FirstByDraw(std::vector<FeatureIndex> const& from, std::size_t count,
                                      std::vector<float> const& weights, RandomStream const& stream) {
  std::vector<std::pair<double, FeatureIndex>> order;
  for (FeatureIndex f : from) {
    double const u = (stream.Word(f) + 0.5) / 4294967296.0;
    order.emplace_back(weights.empty() ? u : -PortableLog(u) / std::max(weights[f], 1e-6f), f);
  }
  std::sort(order.begin(), order.end());
  std::vector<FeatureIndex> first;
  for (std::size_t i = 0; i < count; ++i) first.push_back(order[i].second);
  std::sort(first.begin(), first.end());
  return first;
}

// Models are saved and continued: the sets of a seed must stay what they are.
TEST(FeatureSampleTest, SetsAreTheFirstByDrawOrByDrawAndWeight) {
  float const infinite = std::numeric_limits<float>::infinity();
  for (FeatureIndex features : {3U, 28U, 33U, 200U}) {
    for (bool weighted : {false, true}) {
      auto params = ColumnParams(0.9f, 0.7f, 0.4f);
      params.seed = features;
      // Features of infinite weight all have the key 0, and the smaller ones are first.
      for (FeatureIndex f = 0; weighted && f < features; ++f) {
        params.feature_weights.push_back(f % 5 == 4 ? infinite : static_cast<float>(f % 5) * 0.7f);
      }
      FeatureSampler const sampler{params, features, 9};
      auto const tree = static_cast<std::size_t>(0.9f * static_cast<float>(features));
      std::size_t const level = sampler.counts().level, node = sampler.counts().node;
      EXPECT_EQ(level, static_cast<std::size_t>(0.7f * static_cast<float>(tree)));
      EXPECT_EQ(node, std::max<std::size_t>(1, static_cast<std::size_t>(0.4f * static_cast<float>(level))));
      std::vector<FeatureIndex> all(features);
      std::iota(all.begin(), all.end(), 0U);
      auto const first = [&](auto const& from, std::size_t count, RandomPurpose purpose, std::uint32_t place) {
        return FirstByDraw(from, count, params.feature_weights, {params.seed, purpose, 9, place});
      };
      auto const of_tree = first(all, tree, RandomPurpose::kFeaturesOfTree, 0);
      EXPECT_EQ(sampler.Tree(), of_tree);
      for (NodeIndex n : {5, 6}) {
        auto const of_level = first(of_tree, level, RandomPurpose::kFeaturesOfLevel, 2);
        EXPECT_EQ(sampler.Node(2, n),
                  first(of_level, node, RandomPurpose::kFeaturesOfNode, static_cast<std::uint32_t>(n)));
      }
    }
  }
}

TEST(FeatureSampleTest, SetsThatAreNotChosenHaveNoCount) {
  FeatureSampler const tree{ColumnParams(0.5f, 1, 1), 80, 0}, level{ColumnParams(1, 0.5f, 1), 80, 0},
      node{ColumnParams(0.5f, 1, 0.5f), 80, 0};
  EXPECT_EQ(tree.counts().level + tree.counts().node, 0U);
  EXPECT_EQ(level.counts().level, 40U);
  EXPECT_EQ(level.counts().node, 0U);
  EXPECT_EQ(node.counts().level, 0U);
  EXPECT_EQ(node.counts().node, 20U);
}

TEST(FeatureSampleTest, TheShareIsReadAsTheUserWroteIt) {
  // 0.7f and 0.9f are slightly less than 0.7 and 0.9; XGBoost's single precision product still gives 7 and 9 of 10.
  for (int tenths = 1; tenths < 10; ++tenths) {
    for (FeatureIndex features : {10U, 100U, 1000U}) {
      float const fraction = static_cast<float>(tenths) / 10.0f;
      FeatureSampler const sampler{ColumnParams(fraction, 1, 1), features, 0};
      EXPECT_EQ(sampler.Tree().size(), static_cast<std::size_t>(tenths) * features / 10)
          << fraction << " of " << features;
    }
  }
}

TEST(FeatureSampleTest, TheSizeOfATreesSetIsKnownBefore) {
  for (float const share : {1.0f, 0.7f, 0.1f, 0.001f}) {
    TrainParams params;
    params.colsample_bytree = share;
    EXPECT_EQ(FeaturesOfTree(params, 70), (FeatureSampler{params, 70, 3}.Tree().size()));
  }
}

TEST(FeatureSampleTest, AtLeastOne) {
  EXPECT_EQ((FeatureSampler{ColumnParams(0.01f, 0.01f, 0.01f), 3, 0}.Node(0, 0).size()), 1U);
}

TEST(FeatureSampleTest, EveryFeatureIsEquallyLikely) {
  constexpr std::size_t kTrees = 4000;
  std::vector<std::size_t> taken(10);
  for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
    FeatureSampler const sampler{ColumnParams(0.3f, 1, 1), 10, tree};
    for (FeatureIndex f : sampler.Tree()) ++taken[f];
  }
  for (std::size_t count : taken) EXPECT_NEAR(static_cast<double>(count), 0.3 * kTrees, HoeffdingBound(kTrees));
}

TEST(FeatureSampleTest, WeightsGiveTheChances) {
  // One of four features is taken, with a chance of weight / sum of weights.
  constexpr std::size_t kTrees = 8000;
  auto params = ColumnParams(0.25f, 1, 1);
  params.feature_weights = {1.0f, 2.0f, 3.0f, 4.0f};
  std::vector<std::size_t> taken(4);
  for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
    FeatureSampler const sampler{params, 4, tree};
    ++taken[sampler.Tree().at(0)];
  }
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_NEAR(static_cast<double>(taken[f]), kTrees * static_cast<double>(params.feature_weights[f]) / 10.0,
                HoeffdingBound(kTrees));
  }
}

TEST(FeatureSampleTest, WeightZeroIsTakenLast) {
  auto params = ColumnParams(0.5f, 1, 1);
  params.feature_weights = {0.0f, 1.0f, 0.0f, 5.0f};
  // A weight of 0 counts as 1e-6: the feature is taken before one of weight 1 with a chance of 1e-6.
  for (std::uint32_t tree = 0; tree < 200; ++tree) {
    FeatureSampler const sampler{params, 4, tree};
    EXPECT_EQ(sampler.Tree(), (std::vector<FeatureIndex>{1, 3}));
  }
  params.colsample_bytree = 0.75f;
  FeatureSampler const larger{params, 4, 0};
  EXPECT_EQ(larger.Tree().size(), 3U);
}

TEST(FeatureSampleTest, WeightsOfAnotherSizeAreAnError) {
  auto params = ColumnParams(0.5f, 1, 1);
  params.feature_weights = {1.0f, 1.0f, 1.0f};
  auto const make = [&] { FeatureSampler(params, 4, 0); };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(make, {"feature_weights", "3 elements", "4 features"}), "");
}

}  // namespace
}  // namespace xgbgpu
