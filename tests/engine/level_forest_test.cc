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

std::vector<GivenTree> SymmetricTrees(FeatureIndex features, std::uint64_t seed, std::uint32_t categories = 0,
                                      int most_levels = LevelForest::kMostLevels) {
  Random random{seed};
  std::vector<GivenTree> trees;
  for (int levels = 0; levels <= most_levels; ++levels) {
    for (int i = 0; i < 3; ++i) {
      trees.push_back(testing::SymmetricTree({levels, features, kOutputs, categories}, &random));
    }
  }
  return trees;
}

struct LevelCase {
  testing::DataShape shape;
  std::uint32_t categories{0};
};

TEST(LevelForestTest, EqualsTheWalkByHand) {
  for (LevelCase const& c :
       {LevelCase{{3000, 7, 0.3}}, {{1, 7}}, {{129, 20, 0.9}}, {{4097, 3}}, {{2000, 7, 0.1}, 3}, {{500, 5}, 1300}}) {
    auto values = testing::RandomForestValues(c.shape, c.categories, 5);
    values(0, 0) = std::numeric_limits<float>::infinity();
    auto const trees = SymmetricTrees(7, c.shape.rows, c.categories);  // of features that the values may not have
    auto const forest = LevelForest::Of(testing::MakeForest(trees));
    ASSERT_TRUE(forest);
    ASSERT_EQ(forest->trees(), trees.size());
    for (auto const& [first, last] : {std::pair<std::size_t, std::size_t>{0, trees.size()}, {5, 20}, {3, 3}}) {
      auto expected = testing::RandomMargins(c.shape.rows * kOutputs, 6);
      auto const before = expected;
      testing::AddByHand(trees, first, last, values, kOutputs, &expected);
      for (int threads : {1, 3}) {
        for (std::size_t batch : {0U, 100U}) {
          auto margins = before;
          forest->PredictMargins(MemorySource{values, batch}, first, last,
                                 RowMajor(margins.data(), c.shape.rows, kOutputs), threads);
          EXPECT_EQ(Bits(margins), Bits(expected))
              << c.shape.rows << " rows, " << c.categories << " categories, batches of " << batch;
        }
      }
    }
  }
}

TEST(LevelForestTest, OtherTreesAreNone) {
  Random random{7};
  // Feature 0 is of categories.
  auto const with = [&](auto&& change, FeatureIndex features = 8, std::uint32_t categories = 0) {
    auto trees = SymmetricTrees(features, 8, categories, 4);
    for (GivenTree& tree : trees) {
      if (tree.size() > 16) change(&tree);
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
  EXPECT_FALSE(with([&](GivenTree* tree) {
    *tree = testing::SymmetricTree({LevelForest::kMostLevels + 1, 4}, &random);
  }));

  constexpr std::uint32_t kCategories = 70;
  EXPECT_TRUE(with([](GivenTree*) {}, 1, kCategories));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->categories[last_inner(*tree)] = {1, 3}; }, 1, kCategories));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->categories[last_inner(*tree)].pop_back(); }, 1, kCategories));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->categories[last_inner(*tree)].clear(); }, 1, kCategories));
}

// A chain has one inner node a level, so that each level asks one question, and its full tree has many leaves.
TEST(LevelForestTest, FullTreesMayBeTooLarge) {
  Random random{12};
  auto const chain = [&](std::size_t leaves) { return testing::RandomTree({leaves, 5, 0, true}, {0, 0}, &random); };
  Forest const forest = testing::MakeForest({chain(11), chain(3), chain(1), chain(17)});
  auto const made = LevelForest::Of(forest);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->leaves().size(), 1024U + 4 + 4 + 65536);
  EXPECT_TRUE(LevelForest::Of(forest, made->leaves().size()));
  EXPECT_FALSE(LevelForest::Of(forest, made->leaves().size() - 1));
  EXPECT_FALSE(LevelForest::Of(testing::MakeForest({chain(18)})));
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
