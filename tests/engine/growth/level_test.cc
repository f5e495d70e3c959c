// growth: the tree is the same however few histograms are kept.
#include <gtest/gtest.h>

#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "trees_host/hist_host.h"

namespace xgbgpu {
namespace {

using testing::TreeCase;

/// Grows a tree in a builder that keeps `slots` histograms, after another tree, which leaves something behind.
Tree GrowWithCache(TreeCase const& c, std::size_t slots, int threads) {
  auto const data = testing::MakeDataset(c);
  QuantisedMatrix const& m = testing::BinsOf(*data);
  auto const builder = MakeHostTreeBuilder(m, Shard::Whole(m.rows), threads, slots * m.cells() * sizeof(GradientSum));
  builder->Grow(c.params, c.gradients, {1, 0});
  return builder->Grow(c.params, c.gradients, c.key);
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
  c.params.colsample_bytree = 0.7f;
  c.params.colsample_bynode = 0.5f;
  c.params.max_leaves = 30;
  testing::SetPolicy(&c.params, GetParam());
  Tree const expected = testing::GrowReference(c);
  for (std::size_t slots : {2U, 3U, 6U, 1000U}) EXPECT_EQ(GrowWithCache(c, slots, 3), expected) << slots;
}

INSTANTIATE_TEST_SUITE_P(Policies, CacheTest, ::testing::ValuesIn(testing::kPolicies),
                         [](auto const& c) { return testing::NameOf(c.param); });

}  // namespace
}  // namespace xgbgpu
