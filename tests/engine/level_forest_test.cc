// predict: symmetric trees are recognised, and predicted with the bits of a walk through each tree.
#include "predict/level_forest.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "driver/host_prediction.h"
#include "support/data.h"
#include "support/given_trees.h"

namespace xgbgpu {
namespace {

using testing::Bits;
using testing::GivenTree;
using testing::MemorySource;
using testing::Random;

constexpr std::uint32_t kOutputs = 3;

/// A tree of at most so many levels, of which each has one test. Some nodes above the last level are leaves.
GivenTree SymmetricTree(int levels, FeatureIndex features, Random* random) {
  GivenTree tree;
  tree.output = static_cast<std::uint32_t>(random->Below(kOutputs));
  if (random->Below(4) == 0) tree.weight = 0.7f;
  std::vector<std::size_t> level{0};
  for (int depth = 0; depth < levels; ++depth) {
    auto const feature = static_cast<FeatureIndex>(random->Below(features));
    float const threshold = random->Below(9) == 0 ? std::numeric_limits<float>::infinity() : random->Between(-2, 2);
    bool const default_left = random->Below(2) == 0;
    std::vector<std::size_t> below;
    for (std::size_t const n : level) {
      if (depth != 0 && random->Below(10) == 0) continue;  // a leaf
      std::size_t const left = tree.size();
      tree.Resize(left + 2);
      tree.left[n] = static_cast<NodeIndex>(left);
      tree.right[n] = static_cast<NodeIndex>(left + 1);
      tree.feature[n] = feature;
      tree.value[n] = threshold;
      tree.default_left[n] = default_left ? 1 : 0;
      below.insert(below.end(), {left, left + 1});
    }
    level = below;
  }
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode) tree.value[n] = random->Between(-1, 1);
  }
  return tree;
}

std::vector<GivenTree> SymmetricTrees(FeatureIndex features, std::uint64_t seed) {
  Random random{seed};
  std::vector<GivenTree> trees;
  for (int levels = 0; levels <= LevelForest::kMostLevels; ++levels) {
    for (int i = 0; i < 3; ++i) trees.push_back(SymmetricTree(levels, features, &random));
  }
  return trees;
}

TEST(LevelForestTest, EqualsTheWalkByHand) {
  for (testing::DataShape const shape : {testing::DataShape{3000, 7, 0.3}, {1, 7}, {129, 20, 0.9}, {4097, 3}}) {
    auto values = testing::RandomValues(shape, 5);
    values(0, 0) = std::numeric_limits<float>::infinity();
    auto const trees = SymmetricTrees(7, shape.rows);  // of features that the values may not have
    auto const forest = LevelForest::Of(testing::MakeForest(trees));
    ASSERT_TRUE(forest);
    ASSERT_EQ(forest->trees(), trees.size());
    for (auto const& [first, last] : {std::pair<std::size_t, std::size_t>{0, trees.size()}, {5, 20}, {3, 3}}) {
      auto expected = testing::RandomMargins(shape.rows * kOutputs, 6);
      auto const before = expected;
      testing::AddByHand(trees, first, last, values, kOutputs, &expected);
      for (int threads : {1, 3}) {
        for (std::size_t batch : {0U, 100U}) {
          auto margins = before;
          forest->PredictMargins(MemorySource{values, batch}, first, last,
                                 RowMajor(margins.data(), shape.rows, kOutputs), threads);
          EXPECT_EQ(Bits(margins), Bits(expected)) << shape.rows << " rows, batches of " << batch;
        }
      }
    }
  }
}

TEST(LevelForestTest, OtherTreesAreNone) {
  Random random{7};
  auto const with = [&](auto&& change) {
    auto trees = SymmetricTrees(4, 8);
    for (GivenTree& tree : trees) {
      if (tree.size() > 100) change(&tree);
    }
    return LevelForest::Of(testing::MakeForest(trees)).has_value();
  };
  auto const last_inner = [](GivenTree const& tree) {
    std::size_t n = tree.size();
    while (tree.left[--n] == kNoNode) continue;
    return n;
  };
  EXPECT_TRUE(with([](GivenTree*) {}));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->value[last_inner(*tree)] += 0.5f; }));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->feature[last_inner(*tree)] += 1; }));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->default_left[last_inner(*tree)] ^= 1; }));
  EXPECT_FALSE(with([&](GivenTree* tree) {
    tree->categories.resize(tree->size());
    tree->categories[last_inner(*tree)] = {1, 3};
  }));
  EXPECT_FALSE(with([&](GivenTree* tree) { *tree = SymmetricTree(LevelForest::kMostLevels + 1, 4, &random); }));
}

TEST(HostPredictionTest, ReadsTheModelWhenThatIsWorthTheTime) {
  auto const values = testing::RandomValues({5000, 7, 0.1}, 9);
  MemorySource const rows{values};
  auto trees = SymmetricTrees(7, 10);
  trees.resize(20);
  int reads = 0;
  ModelView model{10, kOutputs, 7, 0.5f, {}, {}};
  model.read_forest = [&](std::optional<float>) {
    ++reads;
    return testing::MakeForest(trees);
  };
  HostPrediction prediction;
  EXPECT_FALSE(prediction.IsWorthwhile(model, 1000, {0, 10}, 1, true));
  EXPECT_FALSE(prediction.IsWorthwhile(model, 5000, {9, 10}, 1, true)) << "one round, for which ten are read";
  EXPECT_FALSE(prediction.IsWorthwhile(model, 5000, {0, 10}, 1, false));
  EXPECT_FALSE(prediction.IsWorthwhile(model, 5000, {0, 11}, 1, true));
  ASSERT_TRUE(prediction.IsWorthwhile(model, 5000, {0, 10}, 1, true));
  BaseMargins const base{{}, 0.25f};
  std::vector<float> margins, expected(5000 * kOutputs, 0.25f);
  testing::AddByHand(trees, 0, trees.size(), values, kOutputs, &expected);
  ASSERT_TRUE(prediction.PredictMargins(model, 2, rows, {0, 10}, &base, &margins));
  EXPECT_EQ(Bits(margins), Bits(expected));
  EXPECT_TRUE(prediction.IsWorthwhile(model, 40, {9, 10}, 1, true)) << "the model is there";
  ASSERT_TRUE(prediction.PredictMargins(model, 2, rows, {0, 7}, &base, &margins));
  ASSERT_TRUE(prediction.PredictMargins(model, 2, rows, {7, 10}, nullptr, &margins));
  EXPECT_EQ(Bits(margins), Bits(expected));
  EXPECT_EQ(reads, 1);

  prediction.Forget();
  Random random{11};
  trees[3] = testing::RandomTree({9, 7}, values, &random);
  EXPECT_TRUE(prediction.IsWorthwhile(model, 5000, {0, 10}, 1, true));
  EXPECT_FALSE(prediction.PredictMargins(model, 2, rows, {0, 10}, &base, &margins));
  EXPECT_EQ(Bits(margins), Bits(expected)) << "margins that are left as they were";
  EXPECT_FALSE(prediction.IsWorthwhile(model, 1000000, {0, 10}, 1, true)) << "it has other trees";
  EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace xgbgpu
