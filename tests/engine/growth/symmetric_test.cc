// symmetric trees: one split for each level, chosen by the sum of its gains. Suites of all policies have them, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "reference/tree.h"
#include "support/data.h"
#include "support/grow.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::Grow;
using testing::GrowReference;
using testing::Random;
using testing::TreeCase;
using testing::WhatIsWrong;

std::vector<int> Depths(Tree const& tree) {
  std::vector<int> depth(tree.size());
  for (std::size_t n = 1; n < tree.size(); ++n) depth[n] = depth[static_cast<std::size_t>(tree.parent[n])] + 1;
  return depth;
}

/// Expects that all nodes of a level that are split have the same split, and that only nodes without hessian are not.
void ExpectSymmetric(Tree const& tree) {
  auto const depth = Depths(tree);
  int const last = *std::max_element(depth.begin(), depth.end());
  std::map<int, std::tuple<FeatureIndex, BinIndex, int, std::vector<std::uint32_t>>> splits;
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode) {
      EXPECT_TRUE(depth[n] == last || tree.sum_hess[n] <= 0) << "node " << n;
      continue;
    }
    auto const set = tree.RightCategories(static_cast<NodeIndex>(n));
    std::tuple const split{tree.feature[n], tree.split_bin[n], int{tree.default_left[n]},
                           std::vector<std::uint32_t>(set.begin(), set.end())};
    EXPECT_EQ(splits.emplace(depth[n], split).first->second, split) << "node " << n;
  }
}

/// Makes a case that has, at random, everything that symmetric trees may meet.
TreeCase RandomSymmetricCase(std::uint64_t seed) {
  Random random{seed + 7000};
  std::size_t const features = 1 + random.Below(7);
  auto c = testing::RandomCase({50 + random.Below(700), features, random.Below(2) == 0 ? 0.3 : 0.0}, seed);
  TrainParams& p = c.params;
  c.max_bin = random.Below(2) == 0 ? 8 : 50;
  if (random.Below(3) == 0) testing::AddCategories(&c, 0, 2 + random.Below(30));
  p.grow_policy = GrowPolicy::kSymmetric;
  p.max_depth = static_cast<int>(1 + random.Below(8));
  if (random.Below(4) == 0) p.max_leaves = 1 << random.Below(6);
  p.min_child_weight = std::vector<float>{0, 1, 10}[random.Below(3)];
  if (random.Below(3) == 0) p.reg_alpha = 1.5f;
  if (random.Below(3) == 0) p.reg_lambda = 0.0f;
  if (random.Below(4) == 0) p.max_delta_step = 0.3f;
  if (random.Below(2) == 0) p.regularisation = Regularisation::kOf3_4;
  if (random.Below(3) == 0) p.min_split_loss = 0.7f;
  if (random.Below(4) == 0) p.subsample = 0.6f;
  if (random.Below(4) == 0) p.colsample_bytree = 0.7f;
  if (random.Below(4) == 0) p.colsample_bylevel = 0.7f;
  if (random.Below(4) == 0) p.colsample_bynode = 0.5f;
  if (random.Below(3) == 0) p.max_cat_to_onehot = 100;
  if (random.Below(3) == 0) {
    for (std::size_t f = 0; f < features; ++f) p.monotone_constraints.push_back(static_cast<int>(random.Below(3)) - 1);
  }
  if (random.Below(4) == 0 && features > 2) p.interaction_constraints = {{0, 1}, {1, 2}};
  if (random.Below(5) == 0) {  // rows without hessian
    for (std::size_t r = 0; r < c.gradients.size(); r += 1 + random.Below(3)) c.gradients[r].hess = 0;
  }
  return c;
}

class SymmetricTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
};

TEST_P(SymmetricTest, TreesEqualTheReference) {
  std::size_t levels = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto const c = RandomSymmetricCase(seed);
    Tree const tree = Grow(c, {GetParam(), 1 + static_cast<int>(seed % 3)});
    ASSERT_EQ(tree, GrowReference(c));
    ExpectSymmetric(tree);
    auto const depth = Depths(tree);
    levels += static_cast<std::size_t>(*std::max_element(depth.begin(), depth.end()));
  }
  EXPECT_GT(levels, 600U) << "trees that say little";
}

TEST_P(SymmetricTest, RowsAreWhereTheirValuesSay) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto const c = RandomSymmetricCase(seed);
    Trainer trainer{testing::MakeDataset(c, {GetParam()}), GetParam(), 2};
    Tree const tree = trainer.Grow(c.params, c.gradients, {});
    std::vector<NodeIndex> positions(c.values.rows);
    trainer.LeafPositions(positions, {});
    for (std::size_t r = 0; r < c.values.rows; ++r) {
      ASSERT_EQ(positions[r], reference::FindLeaf(tree, c.values, r)) << "row " << r << ", seed " << seed;
    }
  }
}

// Rows divide on and on here: nearly all nodes are empty, and few of the others have a weight of their own.
TEST_P(SymmetricTest, SixteenLevels) {
  auto c = testing::RandomCase({700, 4, 0.1}, 12);
  c.max_bin = 16;
  c.params.grow_policy = GrowPolicy::kSymmetric;
  c.params.max_depth = 16;
  c.params.min_child_weight = 0.05f;
  c.params.reg_lambda = 0.01f;
  Tree const tree = Grow(c, {GetParam()});
  EXPECT_EQ(tree, GrowReference(c));
  auto const depth = Depths(tree);
  EXPECT_EQ(*std::max_element(depth.begin(), depth.end()), 16);
  EXPECT_LT(tree.Leaves(), 4000U);
  ExpectSymmetric(tree);
}

TEST_P(SymmetricTest, AChildThatIsTooLightCarriesTheWeightAboveIt) {
  auto c = testing::RandomCase({400, 3}, 5);
  c.params.grow_policy = GrowPolicy::kSymmetric;
  c.params.max_depth = 7;
  c.params.min_child_weight = 20;
  c.params.reg_lambda = 0;
  Tree const tree = Grow(c, {GetParam()});
  std::size_t carried = 0;
  for (std::size_t n = 1; n < tree.size(); ++n) {
    if (tree.sum_hess[n] >= 20) continue;
    EXPECT_EQ(tree.weight[n], tree.weight[static_cast<std::size_t>(tree.parent[n])]) << "node " << n;
    ++carried;
  }
  EXPECT_GT(carried, 10U);
}

// With one level there is one node to judge, so the split is that of other trees where a child may be light.
TEST_P(SymmetricTest, OneLevelIsThatOfOtherTrees) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto c = testing::RandomCase({500, 5, 0.2}, seed);
    testing::AddCategories(&c, 1, 9);
    c.params.max_depth = 1;
    c.params.min_child_weight = 0;
    Tree const depth_wise = Grow(c, {GetParam()});
    c.params.grow_policy = GrowPolicy::kSymmetric;
    EXPECT_EQ(Grow(c, {GetParam()}), depth_wise) << seed;
  }
}

TEST_P(SymmetricTest, GammaCutsTrailingLevelsOnly) {
  auto c = testing::RandomCase({3000, 5}, 6);
  c.params.grow_policy = GrowPolicy::kSymmetric;
  c.params.max_depth = 6;
  Tree const whole = Grow(c, {GetParam()});
  std::size_t last = whole.size();
  for (float gamma : {0.5f, 1.0f, 2.0f, 4.0f, 8.0f, 16.0f, 1e6f}) {
    c.params.min_split_loss = gamma;
    Tree const cut = Grow(c, {GetParam()});
    EXPECT_EQ(cut, GrowReference(c));
    EXPECT_LE(cut.size(), last) << gamma;
    last = cut.size();
    for (std::size_t n = 0; n < cut.size(); ++n) {
      if (cut.left[n] == kNoNode) continue;
      EXPECT_EQ(cut.threshold[n], whole.threshold[n]);
      EXPECT_EQ(cut.weight[n], whole.weight[n]);
    }
  }
  EXPECT_EQ(last, 1U);
}

TEST_P(SymmetricTest, OneTrainerWithOtherSettingsFromTreeToTree) {
  auto c = testing::RandomCase({1500, 6, 0.2}, 9);
  testing::AddCategories(&c, 2, 20);
  Trainer trainer{testing::MakeDataset(c, {GetParam()}), GetParam(), 2};
  for (int turn = 0; turn < 24; ++turn) {
    c.params.max_depth = 2 + turn % 6;
    c.params.min_split_loss = turn % 4 == 1 ? 3.0f : 0.0f;
    c.params.subsample = turn % 3 == 2 ? 0.4f : 1.0f;
    c.params.monotone_constraints = turn % 5 == 1 ? std::vector<int>{1, -1} : std::vector<int>{};
    c.params.max_cat_to_onehot = turn % 2 == 0 ? 4 : 50;
    testing::SetPolicy(&c.params, turn % 4 == 3 ? GrowPolicy::kDepthWise : GrowPolicy::kSymmetric);
    EXPECT_EQ(trainer.Grow(c.params, c.gradients, {}), GrowReference(c)) << "turn " << turn;
  }
}

TEST_P(SymmetricTest, NoLeafBreaksAMonotoneConstraint) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto c = testing::RandomCase({600, 4, 0.1}, seed);
    c.params.grow_policy = GrowPolicy::kSymmetric;
    c.params.min_child_weight = seed % 2 == 0 ? 1.0f : 15.0f;
    c.params.monotone_constraints = {1, -1, 1, 0};
    Tree const tree = Grow(c, {GetParam()});
    for (std::size_t f = 0; f < 3; ++f) {
      for (std::size_t r = 0; r < 100; ++r) {
        float last = 0;
        for (int step = 0; step <= 40; ++step) {
          c.values(r, f) = -5.0f + 0.25f * static_cast<float>(step);
          float const value = tree.leaf_value[static_cast<std::size_t>(reference::FindLeaf(tree, c.values, r))];
          if (step == 0) last = value;
          EXPECT_LE(0, static_cast<float>(c.params.monotone_constraints[f]) * (value - last));
          last = value;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, SymmetricTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

TEST(SymmetricLimitsTest, AreNamed) {
  TrainParams p;
  p.grow_policy = GrowPolicy::kSymmetric;
  auto const validate = [&] { p.Validate(); };
  p.max_depth = 17;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(validate, {"max_depth is 17", "symmetric", "1 to 16"}), "");
  p.max_depth = 0;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(validate, {"max_depth is 0", "symmetric", "1 to 16", "max_leaves"}), "");
  for (int leaves : {3, 24, 1 << 17}) {
    p.max_leaves = leaves;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  validate, {"max_leaves is " + std::to_string(leaves), "symmetric", "power of 2 up to 65536"}),
              "");
  }
  for (auto const& [depth, leaves, levels] : std::vector<std::tuple<int, int, int>>{
           {0, 1, 0}, {0, 2, 1}, {0, 65536, 16}, {6, 64, 6}, {6, 16, 4}, {3, 16, 3}}) {
    p.max_depth = depth;
    p.max_leaves = leaves;
    EXPECT_NO_THROW(p.Validate());
    EXPECT_EQ(p.SymmetricDepth(), levels) << depth << ", " << leaves;
  }
}

}  // namespace
}  // namespace xgbgpu
