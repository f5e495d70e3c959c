// sample: which columns the levels of a tree need, and their order.
#include "sample/level_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Sizes only grow, so that trees alike seldom have others: by Cantelli's inequality what a tree needs is more than three
// standard deviations above its mean with a chance of at most a tenth, at each level. They grow beyond that few times.
TEST_P(LevelColumnsTest, SizesSettle) {
  LevelColumns columns{params_, kFeatures, kLevels};
  int changes = 0;
  for (std::uint32_t tree = 0; tree < 400; ++tree) {
    std::vector<FeatureIndex> before;
    for (int level = 0; level < kLevels; ++level) before.push_back(columns.columns(level));
    bool const grows = columns.Take({params_, kFeatures, tree});
    int const changes_before = changes;
    for (int level = 0; level < kLevels; ++level) {
      FeatureIndex const size = columns.columns(level);
      ASSERT_GE(size, before[static_cast<std::size_t>(level)]);
      ASSERT_LE(size, columns.columns(std::max(0, level - 1)));
      changes += size != before[static_cast<std::size_t>(level)] ? 1 : 0;
    }
    ASSERT_EQ(grows, changes != changes_before);
  }
  EXPECT_LE(changes, kLevels * 400 / 10);
  EXPECT_LE(columns.columns(), FeaturesOfTree(params_, kFeatures));
}

INSTANTIATE_TEST_SUITE_P(Samples, LevelColumnsTest,
                         ::testing::Values(std::pair{1.0f, 0.1f}, std::pair{1.0f, 0.001f}, std::pair{0.5f, 0.2f},
                                           std::pair{0.01f, 0.5f}, std::pair{0.002f, 0.5f}, std::pair{1.0f, 0.9f}));

TEST(LevelColumnsTest, TreesAlikeAskForTheSame) {
  LevelColumns const columns{ParamsOf(1, 0.1f), kFeatures, kLevels};
  EXPECT_TRUE(columns.IsLike(LevelColumns{ParamsOf(1, 0.1f), kFeatures, kLevels}));
  EXPECT_FALSE(columns.IsLike(LevelColumns{ParamsOf(1, 0.2f), kFeatures, kLevels}));
  EXPECT_FALSE(columns.IsLike(LevelColumns{ParamsOf(0.5f, 0.2f), kFeatures, kLevels}));
  EXPECT_FALSE(columns.IsLike(LevelColumns{ParamsOf(1, 0.1f), kFeatures, kLevels - 1}));
}

}  // namespace
}  // namespace xgbgpu
