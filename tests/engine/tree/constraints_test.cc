// constraints: trees equal those of the reference, and no tree breaks its constraints.
#include "split/constraints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::Grow;
using testing::GrowReference;
using testing::Random;
using testing::TreeCase;
using testing::WhatIsWrong;

constexpr float kHuge = std::numeric_limits<float>::max();

/// Makes directions for about half of the features, and sometimes none for the last ones.
std::vector<int> RandomDirections(std::size_t features, Random* random) {
  std::vector<int> directions(1 + random->Below(features));
  for (int& d : directions) d = static_cast<int>(random->Below(4)) % 3 - 1;
  return directions;
}

/// Makes sets that overlap. Some features are in none.
std::vector<std::vector<FeatureIndex>> RandomSets(std::size_t features, Random* random) {
  std::vector<std::vector<FeatureIndex>> sets(1 + random->Below(5));
  for (auto& set : sets) {
    for (std::size_t n = random->Below(5); n > 0; --n)
      set.push_back(static_cast<FeatureIndex>(random->Below(features)));
  }
  return sets;
}

enum class Kind { kMonotone, kInteraction, kBoth };

/// Makes a case that has, at random, everything that constraints may meet.
TreeCase RandomConstrainedCase(Kind kind, std::uint64_t seed) {
  Random random{seed};
  std::size_t const features = 1 + random.Below(9);
  auto c = testing::RandomCase({300 + random.Below(900), features, random.Below(3) == 0 ? 0.3 : 0.0}, seed);
  TrainParams& p = c.params;
  if (kind != Kind::kInteraction) p.monotone_constraints = RandomDirections(features, &random);
  if (kind != Kind::kMonotone) p.interaction_constraints = RandomSets(features, &random);
  c.max_bin = random.Below(2) == 0 ? 16 : 200;
  p.max_depth = static_cast<int>(random.Below(3)) * 4 + 4;
  if (random.Below(3) == 0) p.max_leaves = static_cast<int>(5 + random.Below(30));
  p.min_child_weight = random.Below(2) == 0 ? 0.1f : 3.0f;
  if (random.Below(3) == 0) p.reg_alpha = 0.7f;
  if (random.Below(3) == 0) p.reg_lambda = 0.0f;
  if (random.Below(3) == 0) p.max_delta_step = 0.3f;
  if (random.Below(2) == 0) p.regularisation = Regularisation::kOf3_4;
  if (random.Below(3) == 0) p.subsample = 0.6f;
  if (random.Below(4) == 0) p.colsample_bytree = 0.7f;
  if (random.Below(4) == 0) p.colsample_bylevel = 0.7f;
  if (random.Below(4) == 0) p.colsample_bynode = 0.5f;
  testing::SetPolicy(&p, testing::kPolicies[random.Below(3)]);
  return c;
}

/// Returns the smallest and the largest weight of the leaves at and below a node.
std::pair<float, float> Range(Tree const& tree, NodeIndex node) {
  auto const n = static_cast<std::size_t>(node);
  if (tree.left[n] == kNoNode) return {tree.leaf_value[n], tree.leaf_value[n]};
  auto const left = Range(tree, tree.left[n]), right = Range(tree, tree.left[n] + 1);
  return {std::min(left.first, right.first), std::max(left.second, right.second)};
}

/// Compares, for every split by a feature with a direction, all leaves on one side with all on the other. This is more
/// than that predictions keep the direction.
void ExpectMonotone(Tree const& tree, std::vector<int> const& directions) {
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode || tree.feature[n] >= directions.size()) continue;
    int const direction = directions[tree.feature[n]];
    auto const left = Range(tree, tree.left[n]), right = Range(tree, tree.left[n] + 1);
    auto const& lower = direction < 0 ? right : left;
    auto const& upper = direction < 0 ? left : right;
    EXPECT_TRUE(direction == 0 || lower.second <= upper.first) << "node " << n;
  }
}

/// Expects that the features of every path lie in one set, or that there is only one.
void ExpectMeeting(Tree const& tree, std::vector<std::vector<FeatureIndex>> const& sets) {
  std::vector<std::set<FeatureIndex>> above(tree.size());
  for (std::size_t n = 0; n < tree.size(); ++n) {
    auto const& path = above[n];
    bool const is_in_one = std::any_of(sets.begin(), sets.end(), [&](auto const& members) {
      return std::all_of(path.begin(), path.end(),
                         [&](FeatureIndex f) { return std::count(members.begin(), members.end(), f) != 0; });
    });
    EXPECT_TRUE(path.size() <= 1 || is_in_one) << "node " << n;
    if (tree.left[n] == kNoNode) continue;
    for (int right = 0; right < 2; ++right) {
      auto& child = above[static_cast<std::size_t>(tree.left[n] + right)];
      child = path;
      child.insert(tree.feature[n]);
    }
  }
}

class ConstraintsTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
};

TEST_P(ConstraintsTest, TreesEqualTheReferenceAndKeepWhatTheyWereTold) {
  std::size_t splits = 0;
  for (Kind kind : {Kind::kMonotone, Kind::kInteraction, Kind::kBoth}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", seed " + std::to_string(seed));
      auto const c = RandomConstrainedCase(kind, seed);
      Tree const tree = Grow(c, {GetParam(), 1 + static_cast<int>(seed % 3)});
      ASSERT_EQ(tree, GrowReference(c));
      ExpectMonotone(tree, c.params.monotone_constraints);
      if (kind != Kind::kMonotone) ExpectMeeting(tree, c.params.interaction_constraints);
      splits += tree.size() / 2;
    }
  }
  EXPECT_GT(splits, 120U * 10);
}

TEST_P(ConstraintsTest, TreesOnSamples) {
  auto c = testing::RandomCase({3000, 6, 0.1}, 8);
  c.params.monotone_constraints = {1, -1, 0, 1};
  c.params.interaction_constraints = {{0, 1, 2}, {2, 3}, {0, 4, 3}};
  for (auto method : {SamplingMethod::kUniform, SamplingMethod::kGradientBased, SamplingMethod::kGoss}) {
    SCOPED_TRACE(static_cast<int>(method));
    c.params.sampling_method = method;
    c.params.subsample = method == SamplingMethod::kGoss ? 1.0f : 0.3f;
    Tree const tree = Grow(c, {GetParam()});
    EXPECT_GT(tree.Leaves(), 5U);
    ExpectMonotone(tree, c.params.monotone_constraints);
    ExpectMeeting(tree, c.params.interaction_constraints);
    EXPECT_EQ(tree, GrowReference(c));
  }
}

TEST_P(ConstraintsTest, DeepTrees) {
  for (bool sampled : {false, true}) {
    auto c = testing::RandomCase({6000, 6, 0.1}, 7);
    c.params.max_depth = 14;
    c.params.min_child_weight = 0.05f;
    c.params.monotone_constraints = {1, -1, 0, 1};
    c.params.interaction_constraints = {{0, 1, 2}, {2, 3}, {0, 4, 3}};
    if (sampled) {
      c.params.subsample = 0.5f;
      c.params.colsample_bynode = 0.7f;
    }
    for (GrowPolicy policy : testing::kPolicies) {
      c.params.grow_policy = policy;
      Tree const tree = Grow(c, {GetParam()});
      EXPECT_GT(tree.Leaves(), 20U);
      ExpectMonotone(tree, c.params.monotone_constraints);
      ExpectMeeting(tree, c.params.interaction_constraints);
      EXPECT_EQ(tree, GrowReference(c));
    }
  }
}

TEST_P(ConstraintsTest, TheyMakeADifference) {
  auto c = testing::RandomCase({2000, 5}, 3);
  Tree const free = Grow(c, {GetParam()});
  c.params.monotone_constraints = {-1, -1, -1, -1, -1};
  Tree const falling = Grow(c, {GetParam()});
  c.params.monotone_constraints = {1, 1, 1, 1, 1};
  Tree const rising = Grow(c, {GetParam()});
  EXPECT_FALSE(free == falling);
  EXPECT_FALSE(free == rising);
  EXPECT_FALSE(falling == rising);
  c.params.monotone_constraints.clear();
  c.params.interaction_constraints = {{}};
  Tree const lonely = Grow(c, {GetParam()});
  EXPECT_GT(lonely.Leaves(), 8U);
  for (std::size_t n = 0; n < lonely.size(); ++n) {
    EXPECT_TRUE(lonely.left[n] == kNoNode || lonely.feature[n] == lonely.feature[0]) << "node " << n;
  }
  c.params.interaction_constraints = {{0, 1, 2, 3, 4}};
  EXPECT_EQ(Grow(c, {GetParam()}), free);
}

TEST_P(ConstraintsTest, ManySets) {
  // Every pair of neighbours is a set, which makes more sets than a word has bits.
  auto c = testing::RandomCase({1500, 80, 0.2}, 5);
  for (FeatureIndex f = 0; f + 1 < 80; ++f) c.params.interaction_constraints.push_back({f, f + 1});
  c.params.max_depth = 8;
  Tree const tree = Grow(c, {GetParam()});
  EXPECT_GT(tree.Leaves(), 20U);
  ExpectMeeting(tree, c.params.interaction_constraints);
  EXPECT_EQ(tree, GrowReference(c));
}

TEST_P(ConstraintsTest, OneTrainerWithOtherConstraintsFromTreeToTree) {
  auto c = testing::RandomCase({2500, 6, 0.1}, 9);
  Trainer trainer{testing::MakeDataset(c, {GetParam()}), GetParam(), 2};
  for (std::uint64_t turn = 0; turn < 24; ++turn) {
    Random random{turn};
    c.params.monotone_constraints = turn % 3 == 0 ? std::vector<int>{} : RandomDirections(6, &random);
    c.params.interaction_constraints.clear();
    if (turn % 4 < 2) c.params.interaction_constraints = RandomSets(6, &random);
    c.params.grow_policy = testing::kPolicies[turn % 5 == 4 ? 1 : turn % 5 == 2 ? 2 : 0];
    c.params.max_depth = turn % 5 == 3 ? 9 : 5;
    EXPECT_EQ(trainer.Grow(c.params, c.gradients, {}), GrowReference(c)) << "turn " << turn;
  }
}

TEST_P(ConstraintsTest, FeaturesThatAreNotThere) {
  auto const c = testing::RandomCase({50, 3}, 1);
  Trainer trainer{testing::MakeDataset(c, {GetParam()}), GetParam(), 1};
  TrainParams p;
  p.monotone_constraints = {0, 1, 0, 1};
  auto const grow = [&] { trainer.Grow(p, c.gradients, {}); };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(grow, {"monotone_constraints", "4 elements", "3 features"}), "");
  p.monotone_constraints = {0, 2};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(grow, {"monotone_constraints", "is 2", "-1, 0 or 1"}), "");
  p.monotone_constraints.clear();
  p.interaction_constraints = {{0, 1}, {3}};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(grow, {"interaction_constraints", "feature 3", "0 to 2"}), "");
  p.interaction_constraints.clear();
  EXPECT_EQ(trainer.Grow(p, c.gradients, {}), Grow(c, {GetParam()}));
}

INSTANTIATE_TEST_SUITE_P(Backends, ConstraintsTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

TEST(ConstraintOpsTest, WeightsStayInTheirBounds) {
  SplitParams p{TrainParams{}, {false, 0, 0}};  // lambda 1
  EXPECT_EQ(BoundedWeight(p, {-6, 2}, {-1, 1.5f}), 1.5f);
  EXPECT_EQ(BoundedWeight(p, {6, 2}, {-1, 1.5f}), -1.0f);
  EXPECT_EQ(BoundedWeight(p, {3, 2}, {-1, 1.5f}), -1.0f);
  EXPECT_EQ(BoundedWeight(p, {-3, 2}, {-1, 1.5f}), 1.0f);
  EXPECT_EQ(BoundedWeight(p, {-3, 0.5}, {2, 3}), 2.0f);  // lighter than min_child_weight: 0, raised to the bound
  EXPECT_EQ(BoundedGain(p, {-3, 2}, 1.0f), 3.0);         // the unbounded gain: 9 / 3
  EXPECT_EQ(BoundedGain(p, {-3, 2}, 0.5f), 2.25);
  p.reg_lambda = 0;
  p.min_child_weight = 0;
  EXPECT_EQ(BoundedWeight(p, {-1e300, 1e-300}, {}), kHuge);  // beyond a float
}

TEST(ConstraintOpsTest, ADirectionForbidsTheOther) {
  SplitParams const p{TrainParams{}, {false, 0, 0}};
  GradientSum const low{30, 9}, high{-30, 9};  // weights -3 and 3
  NodeTerms const node{0, {}};
  float const gain = SplitGain<false>(p, low, high, node, 0);
  EXPECT_EQ(gain, 180.0f);
  for (int direction : {0, 1}) EXPECT_EQ(SplitGain<true>(p, low, high, node, direction), gain);
  EXPECT_EQ(SplitGain<true>(p, low, high, node, -1), 0.0f);
  EXPECT_EQ(SplitGain<true>(p, high, low, node, 1), 0.0f);
  EXPECT_EQ(SplitGain<true>(p, high, low, node, -1), gain);
  EXPECT_EQ(SplitGain<true>(p, low, low, node, 1), gain);  // equal weights break no direction
  EXPECT_EQ(SplitGain<true>(p, low, low, node, -1), gain);
}

TEST(ConstraintOpsTest, ChildrenKeepToTheirSideOfTheMiddle) {
  SplitParams const p{TrainParams{}, {false, 0, 0}};
  GradientSum const low{30, 9}, high{-10, 9};  // weights -3 and 1
  auto const bounds = [&](int direction, GradientSum left, GradientSum right, bool is_right) {
    WeightBounds const b = BoundsOfChild(p, {-5, 5}, direction, left, right, is_right);
    return std::make_pair(b.lower, b.upper);
  };
  EXPECT_EQ(bounds(0, low, high, false), std::make_pair(-5.0f, 5.0f));
  EXPECT_EQ(bounds(1, low, high, false), std::make_pair(-5.0f, -1.0f));
  EXPECT_EQ(bounds(1, low, high, true), std::make_pair(-1.0f, 5.0f));
  EXPECT_EQ(bounds(-1, high, low, false), std::make_pair(-1.0f, 5.0f));
  EXPECT_EQ(bounds(-1, high, low, true), std::make_pair(-5.0f, -1.0f));
}

}  // namespace
}  // namespace xgbgpu
