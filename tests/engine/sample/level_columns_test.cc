// sample: which columns the levels of a tree need, and their order.
#include "sample/level_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace xgbgpu {
namespace {

constexpr FeatureIndex kFeatures = 300;
constexpr int kLevels = 8;

TrainParams ParamsOf(float bytree, float bylevel) {
  TrainParams params;
  params.colsample_bytree = bytree;
  params.colsample_bylevel = bylevel;
  return params;
}

/// Returns the features that a level, and the levels below it, may use.
std::set<FeatureIndex> NeededFrom(FeatureSampler const& sampler, int level) {
  std::set<FeatureIndex> all;
  for (; level < kLevels; ++level) {
    for (FeatureIndex f : sampler.Node(level, 0)) all.insert(f);
  }
  return all;
}

class LevelColumnsTest : public ::testing::TestWithParam<std::pair<float, float>> {
 protected:
  TrainParams params_{ParamsOf(GetParam().first, GetParam().second)};
};

// The first columns of a level have all features that it needs, whatever the tree.
TEST_P(LevelColumnsTest, FirstColumnsHaveWhatALevelNeeds) {
  for (FeatureIndex const run : {1U, 7U, 32U}) {
    LevelColumns columns{params_, kFeatures, kLevels};
    for (std::uint32_t tree = 0; tree < 50; ++tree) {
      FeatureSampler const sampler{params_, kFeatures, tree};
      columns.Take(sampler);
      auto const order = columns.Order(run);
      ASSERT_EQ(order.size(), columns.columns());
      ASSERT_EQ(std::set<FeatureIndex>(order.begin(), order.end()).size(), order.size());
      for (std::size_t i = 1; i < order.size(); ++i) {
        ASSERT_TRUE(i % run == 0 || order[i - 1] < order[i]);
      }
      for (int level = 0; level < kLevels; ++level) {
        std::size_t const whole_runs = (columns.columns(level) + run - 1) / run * run;
        std::set<FeatureIndex> const first(
            order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), whole_runs)));
        for (FeatureIndex f : NeededFrom(sampler, level)) ASSERT_EQ(first.count(f), 1U) << level << " " << f;
      }
    }
  }
}

// Sizes grow to what a tree needs, say so, and never shrink.
TEST_P(LevelColumnsTest, SizesOnlyGrow) {
  LevelColumns columns{params_, kFeatures, kLevels};
  for (std::uint32_t tree = 0; tree < 400; ++tree) {
    LevelColumns const before = columns;
    bool const told = columns.Take({params_, kFeatures, tree});
    bool grows = false;
    for (int level = 0; level < kLevels; ++level) {
      ASSERT_GE(columns.columns(level), before.columns(level));
      ASSERT_LE(columns.columns(level), columns.columns(std::max(0, level - 1)));
      grows = grows || columns.columns(level) > before.columns(level);
    }
    ASSERT_EQ(told, grows);
  }
  EXPECT_LE(columns.columns(), FeaturesOfTree(params_, kFeatures));
}

// The first size of each level is three standard deviations above the mean of what trees need, rounded up. The mean of
// 400 trees has a standard error of 1/20 of a deviation, and three deviations one of about 3/28: six of both are less
// than a deviation.
TEST_P(LevelColumnsTest, FirstSizesFitMostTrees) {
  constexpr int kTrees = 400;
  LevelColumns const columns{params_, kFeatures, kLevels};
  for (int level = 0; level < kLevels; ++level) {
    double sum = 0, squares = 0;
    for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
      auto const needed = static_cast<double>(NeededFrom({params_, kFeatures, tree}, level).size());
      sum += needed;
      squares += needed * needed;
    }
    double const mean = sum / kTrees, deviation = std::sqrt(std::max(0.0, squares / kTrees - mean * mean));
    double const most = FeaturesOfTree(params_, kFeatures);
    EXPECT_NEAR(columns.columns(level), std::min(most, mean + 3 * deviation), 1 + deviation) << level;
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, LevelColumnsTest,
                         ::testing::Values(std::pair{1.0f, 0.1f}, std::pair{1.0f, 0.001f}, std::pair{0.5f, 0.2f},
                                           std::pair{0.01f, 0.5f}, std::pair{0.002f, 0.5f}, std::pair{1.0f, 0.9f}));

// A tree that needs more than the sizes makes them as large as it needs.
TEST(LevelColumnsTest, ATreeThatNeedsMoreIsHeld) {
  FeatureSampler const sampler{ParamsOf(1, 0.2f), kFeatures, 3};
  LevelColumns columns{ParamsOf(1, 0.001f), kFeatures, kLevels};
  EXPECT_TRUE(columns.Take(sampler));
  for (int level = 0; level < kLevels; ++level) {
    EXPECT_EQ(columns.columns(level), NeededFrom(sampler, level).size()) << level;
  }
  EXPECT_FALSE(columns.Take(sampler));
}

TEST(LevelColumnsTest, TreesAlikeAskForTheSame) {
  LevelColumns const columns{ParamsOf(1, 0.1f), kFeatures, kLevels};
  EXPECT_TRUE(columns.IsLike(LevelColumns{ParamsOf(1, 0.1f), kFeatures, kLevels}));
  EXPECT_FALSE(columns.IsLike(LevelColumns{ParamsOf(1, 0.2f), kFeatures, kLevels}));
  EXPECT_FALSE(columns.IsLike(LevelColumns{ParamsOf(0.5f, 0.2f), kFeatures, kLevels}));
  EXPECT_FALSE(columns.IsLike(LevelColumns{ParamsOf(1, 0.1f), kFeatures, kLevels - 1}));
}

}  // namespace
}  // namespace xgbgpu
