// level: the tree is the same however few histograms fit the cache.
#include "level/level.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/backend.h"
#include "growth/make_tree.h"
#include "sample/sample.h"
#include "support/data.h"
#include "support/grow.h"

namespace xgbgpu {
namespace {

using testing::TreeCase;

/// The loop of HostTreeBuilder::Grow on a LevelBuilder whose cache holds `slots` histograms.
Tree GrowWithCache(TreeCase const& c, std::size_t slots, int threads) {
  auto const data = testing::MakeDataset(c);
  QuantisedMatrix const& m = data->matrix();
  std::vector<std::size_t> counts(host::SampleChunks(m.rows));
  std::vector<RowRecord> root(m.rows);
  std::vector<GradientPair> gradients(m.rows);
  std::size_t const rows = host::SampleRows(c.params, 0, c.gradients, counts, root, gradients, threads);
  GradientFormat const format = host::ChooseGradientFormat(gradients, rows, threads);
  std::vector<NarrowGradient> narrow(format.narrow ? m.rows : 0);
  std::vector<GradientSum> wide(format.narrow ? 0 : m.rows);
  host::QuantiseGradients(gradients, format, {c.params.seed, RandomPurpose::kRounding, 0, 0}, narrow, wide, threads);
  SplitParams const split_params{c.params, format};
  FeatureSampler const features{c.params, m.features(), 0};

  HostStageTimer const timer;
  host::LevelBuilder level{m, threads, slots * m.cells() * sizeof(GradientSum), &timer};
  std::vector<NodeIndex> positions(m.rows);
  level.SetPositions(positions.data());
  Tree tree;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second tree starts from what the first one left behind
    std::copy_n(root.data(), rows, level.RootRows().data());
    level.Begin({format, narrow.data(), wide.data()}, split_params, features, c.params, rows);
    level.BuildRoot();
    while (level.SelectNodes()) level.ExpandNodes();
    tree = MakeTree(level.nodes(), m.cuts, split_params, c.params.learning_rate);
  }
  return tree;
}

class CacheTest : public ::testing::TestWithParam<GrowPolicy> {};

TEST_P(CacheTest, AnySizeGivesTheSameTree) {
  for (double missing : {0.05, 0.8}) {
    for (float subsample : {1.0f, 0.6f}) {
      auto c = testing::RandomCase({900, 9, missing}, 121);
      c.max_bin = 32;
      c.params.max_depth = 7;
      c.params.min_child_weight = 0.5f;
      c.params.grow_policy = GetParam();
      c.params.subsample = subsample;
      Tree const expected = testing::GrowReference(c);
      ASSERT_GT(expected.Leaves(), 30U);
      for (std::size_t slots : {0U, 3U, 4U, 5U, 8U, 13U, 1000U}) {
        EXPECT_EQ(GrowWithCache(c, slots, 2), expected) << slots << " histograms, missing " << missing;
      }
    }
  }
}

TEST_P(CacheTest, WithColumnsSampledByNode) {
  auto c = testing::RandomCase({900, 20, 0.1}, 122);
  c.max_bin = 32;
  c.params.grow_policy = GetParam();
  c.params.colsample_bytree = 0.7f;
  c.params.colsample_bynode = 0.5f;
  c.params.max_leaves = 30;
  Tree const expected = testing::GrowReference(c);
  for (std::size_t slots : {2U, 3U, 6U, 1000U}) EXPECT_EQ(GrowWithCache(c, slots, 3), expected) << slots;
}

INSTANTIATE_TEST_SUITE_P(Policies, CacheTest, ::testing::Values(GrowPolicy::kDepthWise, GrowPolicy::kLossGuide),
                         [](auto const& c) {
                           return c.param == GrowPolicy::kDepthWise ? std::string{"DepthWise"} : "LossGuide";
                         });

}  // namespace
}  // namespace xgbgpu
