// predict: forests on raw values equal a walk by hand, bit for bit.
#include "predict/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>

#include "predict/forest_policy.h"
#include "support/given_trees.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::GivenTree;
using testing::MemorySource;
using testing::Random;
using testing::WhatIsWrong;

constexpr float kInf = std::numeric_limits<float>::infinity();

struct ForestCase {
  char const* name;
  testing::DataShape shape;
  FeatureIndex tested;  ///< features that trees test
  std::size_t leaves;
  std::uint32_t levels{0};  ///< categories of features 0, 3, 6 …; 0: they are numbers
};

void PrintTo(ForestCase const& c, std::ostream* os) { *os << c.name; }

class ForestTest : public ::testing::TestWithParam<ForestCase> {
 protected:
  ForestTest() {
    Random random{61};
    for (std::uint32_t i = 0; i < 11; ++i) {
      // One tree is a single leaf.
      trees_.push_back(testing::RandomTree({i == 5 ? 1 : GetParam().leaves, GetParam().tested, i * i % 3, false,
                                            i == 3 ? 0 : GetParam().levels},  // one splits on numbers only
                                           values_, &random));
    }
  }

  reference::Values values_{testing::RandomForestValues(GetParam().shape, GetParam().levels, 60)};
  std::vector<GivenTree> trees_;
};

TEST_P(ForestTest, EqualsTheWalkByHand) {
  constexpr std::uint32_t kOutputs = 4;
  Forest const forest = testing::MakeForest(trees_);
  ASSERT_EQ(forest.trees(), trees_.size());
  EXPECT_EQ(forest.outputs(), 2U);  // squares mod 3 are 0 and 1
  EXPECT_LE(forest.features(), GetParam().tested);
  for (auto const& [first, last] : {std::pair{0, 11}, std::pair{3, 9}, std::pair{10, 11}, std::pair{4, 4}}) {
    auto expected = testing::RandomMargins(values_.rows * kOutputs, 62);
    auto const before = expected;
    testing::AddByHand(trees_, first, last, values_, kOutputs, &expected);
    auto const leaves = testing::LeavesByHand(trees_, first, last, values_);
    for (int const threads : {1, 2, 3, 7}) {
      MemorySource const source{values_, threads == 1 ? 0U : 77U};
      auto margins = before;
      host::PredictMargins(source, forest, first, last, RowMajor(margins.data(), values_.rows, kOutputs), threads);
      ASSERT_EQ(testing::Bits(margins), testing::Bits(expected)) << first << " to " << last << ", threads " << threads;
      std::vector<float> out(leaves.size());
      host::PredictLeaves(source, forest, first, last, out.data(), threads);
      ASSERT_EQ(out, leaves) << first << " to " << last << ", threads " << threads;
    }
  }
}

TEST_P(ForestTest, MarginsMayLieEitherWay) {
  Forest const forest = testing::MakeForest(trees_);
  MemorySource const source{values_};
  std::size_t const rows = values_.rows;
  std::vector<float> by_row(rows * 3, 0.25f), by_output(rows * 3, 0.25f);
  host::PredictMargins(source, forest, 0, 11, RowMajor(by_row.data(), rows, 3), 2);
  host::PredictMargins(source, forest, 0, 11, OutputMajor(by_output.data(), rows, 3), 2);
  for (std::size_t i = 0; i < by_row.size(); ++i) ASSERT_EQ(by_row[i], by_output[i % 3 * rows + i / 3]) << i;
}

INSTANTIATE_TEST_SUITE_P(Shapes, ForestTest,
                         ::testing::Values(ForestCase{"Dense", {1500, 6}, 6, 40},
                                           ForestCase{"Missing", {1500, 6, 0.3, 9}, 6, 200},
                                           ForestCase{"Sparse", {1100, 40, 0.9}, 40, 64},
                                           ForestCase{"FeaturesBeyondTheData", {900, 5, 0.1}, 9, 64},
                                           ForestCase{"FewOfManyFeatures", {300, 90}, 3, 17},
                                           ForestCase{"ManyFeatures", {40, 70000, 0.97}, 70000, 300},
                                           ForestCase{"LargeTrees", {200, 12, 0.1}, 12, 40000},
                                           ForestCase{"OneRow", {1, 3}, 3, 5},
                                           ForestCase{"Categories", {1500, 6, 0.1}, 6, 60, 5},
                                           ForestCase{"ManyCategories", {1500, 6, 0.1}, 6, 60, 1300},
                                           ForestCase{"OnlyCategories", {900, 3, 0.1}, 1, 30, 40},
                                           ForestCase{"CategoriesBeyondTheData", {900, 5, 0.1}, 10, 64, 33},
                                           ForestCase{"CategoriesOfManyFeatures", {40, 70000, 0.97}, 70000, 300, 64},
                                           ForestCase{"CategoriesOfLargeTrees", {200, 12, 0.1}, 12, 40000, 32}),
                         [](auto const& c) { return c.param.name; });

/// Makes a tree whose leaf is 1 if the feature is below `threshold`, else 2. Missing values go left if `default_left`.
GivenTree Stump(float threshold, bool default_left, FeatureIndex feature = 0) {
  GivenTree tree;
  tree.Resize(3);
  tree.left[0] = 1;
  tree.right[0] = 2;
  tree.feature[0] = feature;
  tree.value = {threshold, 1.0f, 2.0f};
  tree.default_left[0] = default_left ? 1 : 0;
  return tree;
}

float PredictOne(std::vector<GivenTree> const& trees, std::vector<Entry> const& row, float margin = 0.0f) {
  Forest const forest = testing::MakeForest(trees);
  host::PredictMargins(MemorySource{{row}, 2}, forest, 0, forest.trees(), RowMajor(&margin, 1, 1), 1);
  return margin;
}

TEST(ForestSplitTest, ComparesAsXGBoost) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(PredictOne({Stump(0.5f, true)}, {{0, 0.5f}}), 2.0f);
  EXPECT_EQ(PredictOne({Stump(0.5f, true)}, {{0, std::nextafter(0.5f, 0.0f)}}), 1.0f);
  EXPECT_EQ(PredictOne({Stump(0.0f, true)}, {{0, -0.0f}}), 2.0f);
  EXPECT_EQ(PredictOne({Stump(0.5f, true)}, {{0, kInf}}), 2.0f);
  EXPECT_EQ(PredictOne({Stump(0.5f, false)}, {{0, -kInf}}), 1.0f);
  for (bool const default_left : {false, true}) {
    float const missing = default_left ? 1.0f : 2.0f;
    EXPECT_EQ(PredictOne({Stump(0.5f, default_left)}, {}), missing);
    EXPECT_EQ(PredictOne({Stump(0.5f, default_left)}, {{0, nan}, {1, 0.0f}}), missing);
    EXPECT_EQ(PredictOne({Stump(0.5f, default_left, 7)}, {{0, 0.0f}, {1, 0.0f}}), missing);  // the row has two features
    EXPECT_EQ(PredictOne({Stump(nan, default_left)}, {{0, 0.0f}}), 2.0f);
  }
  EXPECT_EQ(PredictOne({Stump(0.5f, true)}, {{0, 0.0f}, {0, 1.0f}}), 2.0f);  // the last value of a feature counts
  EXPECT_EQ(PredictOne({Stump(0.5f, true)}, {{1, 5.0f}, {0, 1.0f}}), 2.0f);  // features come in any order
}

/// Makes a tree as Stump does, but by categories: those listed go right.
GivenTree CategoryStump(std::vector<std::uint32_t> right, bool default_left) {
  GivenTree tree = Stump(std::numeric_limits<float>::quiet_NaN(), default_left);
  tree.categories = {std::move(right), {}, {}};
  return tree;
}

TEST(ForestSplitTest, TakesCategoriesAsXGBoost) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (bool const default_left : {false, true}) {
    auto const leaf = [&](float x) { return PredictOne({CategoryStump({0, 3, 33}, default_left)}, {{0, x}}); };
    for (float const x : {0.0f, -0.0f, 0.9f, 3.0f, 3.5f, std::nextafter(4.0f, 0.0f), 33.0f})
      EXPECT_EQ(leaf(x), 2.0f) << x;
    for (float const x : {1.0f, 2.999f, 4.0f, 32.0f, 34.0f, 64.0f, 1e6f, 16777215.0f}) EXPECT_EQ(leaf(x), 1.0f) << x;
    for (float const x : {-1.0f, -0.5f, -3.0f, 16777216.0f, 4294967296.0f, 1e30f, kInf, -kInf}) {
      EXPECT_EQ(leaf(x), 1.0f) << x;
    }
    EXPECT_EQ(leaf(nan), default_left ? 1.0f : 2.0f);
    EXPECT_EQ(PredictOne({CategoryStump({0}, default_left)}, {}), default_left ? 1.0f : 2.0f);
  }
  EXPECT_EQ(PredictOne({CategoryStump({16777215}, true)}, {{0, 16777215.0f}}), 2.0f);
  EXPECT_EQ(PredictOne({CategoryStump({16777216}, true)}, {{0, 16777216.0f}}), 1.0f);  // 2^24 is no category
}

TEST(ForestSumTest, RoundsAfterEveryTreeInOrder) {
  auto const leaf = [](float value, float weight = 1.0f) {
    GivenTree tree;
    tree.value[0] = value;
    tree.weight = weight;
    return tree;
  };
  EXPECT_EQ(PredictOne({leaf(1.0f), leaf(-0x1p24f)}, {}, 0x1p24f), 0.0f);  // 2^24 + 1 is rounded to 2^24
  EXPECT_EQ(PredictOne({leaf(-0x1p24f), leaf(1.0f)}, {}, 0x1p24f), 1.0f);
  EXPECT_EQ(PredictOne({leaf(0.1f, 0.7f)}, {}, 0.3f), 0.3f + 0.1f * 0.7f);
  EXPECT_TRUE(std::signbit(PredictOne({leaf(-0.0f)}, {}, -0.0f)));
  EXPECT_FALSE(std::signbit(PredictOne({leaf(-0.0f, 0.5f)}, {}, -0.0f)));  // -0 + (0 + -0) · 0.5
}

TEST(ForestWeightTest, MayChangeAndLeavesTheTreeAlone) {
  GivenTree leaf;
  leaf.value[0] = 0.1f;
  Forest forest = testing::MakeForest({leaf, leaf});
  EXPECT_FALSE(forest.weighted());
  auto const margin = [&] {
    float sum = 0.3f;
    host::PredictMargins(MemorySource{{{}}, 1}, forest, 0, 2, RowMajor(&sum, 1, 1), 1);
    return sum;
  };
  EXPECT_EQ(margin(), (0.3f + 0.1f) + 0.1f);
  forest.SetWeight(0, 0.7f);
  EXPECT_TRUE(forest.weighted());
  EXPECT_EQ(margin(), (0.3f + 0.1f * 0.7f) + 0.1f);
  forest.SetWeight(0, 0.0f);
  EXPECT_EQ(margin(), 0.3f + 0.1f);
  forest.SetWeight(0, 1.0f);
  EXPECT_FALSE(forest.weighted());
  EXPECT_EQ(margin(), (0.3f + 0.1f) + 0.1f);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { forest.SetWeight(2, 0.5f); }, {"Tree 2 of a forest of 2"}), "");
}

TEST(ForestNodeTest, NodesAreReadAsTheyWerePacked) {
  ForestWord words[4];
  for (ForestNode const& node :
       {ForestNode{1.5f, 0, 0, false}, ForestNode{-2.5f, 2, 65535, true}, ForestNode{0.1f, 65534, 1, false}}) {
    NarrowNodes::Pack(node, words + 1);
    WideNodes::Pack(node, words + 2);
    for (ForestNode const& read : {NarrowNodes::Load(words, 1), WideNodes::Load(words, 1)}) {
      EXPECT_EQ(read.value, node.value);
      EXPECT_EQ(read.left, node.left);
      EXPECT_EQ(read.feature, node.feature);
      EXPECT_EQ(read.default_left, node.default_left);
      EXPECT_EQ(read.leaf(), node.left == 0);
      EXPECT_EQ(read.Next(std::nextafter(node.value, -kInf), NoSets{}), node.left);
      EXPECT_EQ(read.Next(node.value, NoSets{}), node.left + 1);
    }
  }
}

TEST(ForestNodeTest, SetsAreReadAsTheyWerePacked) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::uint32_t const words[] = {1, 4};  // category 2
  PackedSets const sets{words};
  ForestWord packed[4];
  for (std::uint32_t const set : {0U, 1U, NarrowNodes::kMostSetWords - 1}) {
    ForestNode const node{nan, 65534, 65535, true, set};
    NarrowNodes::Pack(node, packed + 1);
    WideNodes::Pack(node, packed + 2);
    for (ForestNode const& read : {NarrowNodes::Load(packed, 1), WideNodes::Load(packed, 1)}) {
      EXPECT_EQ(read.set, set);
      EXPECT_EQ(read.left, node.left);
      EXPECT_EQ(read.feature, node.feature);
      EXPECT_TRUE(read.default_left);
      if (set != 0) continue;
      EXPECT_EQ(read.Next(2.0f, sets), node.left + 1);
      EXPECT_EQ(read.Next(1.0f, sets), node.left);
      EXPECT_EQ(read.Next(nan, sets), node.left);
    }
  }
  for (ForestNode const& node : {ForestNode{nan, 0, 0, false}, ForestNode{-kInf, 2, 7, true}}) {  // a leaf, a threshold
    NarrowNodes::Pack(node, packed + 1);
    WideNodes::Pack(node, packed + 2);
    for (ForestNode const& read : {NarrowNodes::Load(packed, 1), WideNodes::Load(packed, 1)}) {
      EXPECT_EQ(read.set, kNoSet);
      EXPECT_EQ(testing::Bits({read.value}), testing::Bits({node.value}));
    }
  }
}

TEST(ForestAddTest, SetsTakeNoMoreWordsThanTheyNeed) {
  Forest forest = testing::MakeForest({Stump(0.5f, true), CategoryStump({3}, true), CategoryStump({1, 64}, true)});
  EXPECT_TRUE(forest.categorical());
  EXPECT_EQ(forest.first_set(1), 0U);
  EXPECT_EQ(forest.first_set(2), 2U);
  EXPECT_EQ(forest.first_set(3), 6U);
  std::vector<std::uint32_t> const expected{1, 8, 3, 2, 0, 1};
  EXPECT_EQ(std::vector<std::uint32_t>(forest.set_words(), forest.set_words() + 6), expected);
  std::vector<std::uint32_t> const ptr{0, 4, 4, 5}, bits{2, 1, 0, 0, 9};  // words of a leaf do not count
  GivenTree const tree = Stump(0.5f, true);
  forest.Add({tree.left, tree.right, tree.feature, tree.value, tree.default_left, ptr, bits}, 0);
  EXPECT_EQ(forest.first_set(4), 9U);
  EXPECT_FALSE(testing::MakeForest({Stump(0.5f, true)}).categorical());
}

TEST(ForestAddTest, ChoosesNarrowNodesWhereTheyAreEnough) {
  reference::Values const values{0, 0};
  Random random{63};
  auto const wide = [&](testing::GivenShape const& shape) {
    return testing::MakeForest({testing::RandomTree(shape, values, &random)}).tree(0).wide();
  };
  EXPECT_FALSE(wide({32768, 5}));  // 65,535 nodes, and the gap beside the root
  EXPECT_TRUE(wide({32769, 5}));
  EXPECT_FALSE(testing::MakeForest({Stump(0, true, 65535)}).tree(0).wide());
  EXPECT_TRUE(testing::MakeForest({Stump(0, true, 65536)}).tree(0).wide());
  EXPECT_EQ(testing::MakeForest({Stump(0, true, 65536)}).features(), 65537U);
}

// Each set has half a million words, so that the numbers of sets do not fit narrow nodes.
TEST(ForestAddTest, ChoosesWideNodesForManySets) {
  GivenTree tree;
  tree.Resize(21);
  tree.categories.resize(21);
  tree.value[20] = 10.0f;
  for (std::uint32_t i = 0; i < 10; ++i) {  // category 16,000,000 + i goes to leaf i, others go on
    tree.left[2 * i] = static_cast<NodeIndex>(2 * i + 2);
    tree.right[2 * i] = static_cast<NodeIndex>(2 * i + 1);
    tree.categories[2 * i] = {16000000 + i};
    tree.value[2 * i + 1] = static_cast<float>(i);
  }
  EXPECT_TRUE(testing::MakeForest({tree}).tree(0).wide());
  for (std::uint32_t i = 0; i < 11; ++i) {
    EXPECT_EQ(PredictOne({tree}, {{0, static_cast<float>(16000000 + i)}}), static_cast<float>(i));
  }
}

TEST(ForestAddTest, FindsTreesWithTheSplitsOfTheTreeBefore) {
  reference::Values const values = testing::RandomForestValues({60, 4}, 20, 64);
  Random random{65};
  for (std::size_t const leaves : {1U, 12U, 40000U}) {
    GivenTree const tree = testing::RandomTree({leaves, 4, 0, false, 20}, values, &random);
    GivenTree twin = tree;
    twin.output = 1;
    twin.weight = 0.5f;
    for (std::size_t n = 0; n < twin.size(); ++n) twin.value[n] += twin.left[n] == kNoNode ? 1.0f : 0.0f;
    auto const is_twin = [&](GivenTree const& other) { return testing::MakeForest({tree, other}).tree(1).twin(); };
    EXPECT_TRUE(is_twin(twin));
    EXPECT_FALSE(testing::MakeForest({twin}).tree(0).twin());
    for (bool const of_categories : {false, true}) {
      std::size_t n = 0;
      while (n < tree.size() && (tree.left[n] == kNoNode || tree.categories[n].empty() == of_categories)) ++n;
      ASSERT_EQ(n == tree.size(), leaves == 1);
      if (leaves == 1) continue;
      GivenTree other = twin;
      other.default_left[n] ^= 1;
      EXPECT_FALSE(is_twin(other)) << "the missing values of node " << n;
      other = twin;
      if (of_categories) {
        other.categories[n].back() += 1;
      } else {
        other.value[n] += 1.0f;
      }
      EXPECT_FALSE(is_twin(other)) << "the values of node " << n;
    }
  }
  EXPECT_FALSE(testing::MakeForest({Stump(0, true, 1), Stump(0, true, 2)}).tree(1).twin());
}

TEST(ForestAddTest, RefusesWhatIsNoTree) {
  Forest forest = testing::MakeForest({Stump(0.5f, true)});
  auto const refused = [&](GivenTree const& tree, std::vector<std::string> const& parts) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { tree.AddTo(&forest); }, parts), "");
    EXPECT_EQ(forest.trees(), 1U);
    EXPECT_EQ(forest.features(), 1U);
    EXPECT_EQ(forest.outputs(), 1U);
  };
  GivenTree tree;
  tree.Resize(0);
  refused(tree, {"Tree 1", "no nodes"});
  tree = Stump(0.5f, true);
  tree.feature.pop_back();
  refused(tree, {"tree 1", "3 and 2 elements"});
  tree = Stump(0.5f, true);
  tree.right[0] = 3;
  refused(tree, {"Child of node 0 of tree 1 is 3", "0 to 2"});
  tree.right[0] = kNoNode;
  refused(tree, {"Child of node 0 of tree 1 is -1"});
  tree.right[0] = 1;
  refused(tree, {"Node 1 of tree 1", "more than one parent"});
  tree.right[0] = 0;
  refused(tree, {"Node 0 of tree 1", "more than one parent"});
  refused(Stump(0.5f, true, 0x80000000U), {"tests feature 2147483648", "0 to 2147483647"});
  tree = Stump(0.5f, true);
  tree.output = 0x40000000U;
  refused(tree, {"Output of tree 1 is 1073741824", "0 to 1073741823"});
  auto const wrong_categories = [&](std::vector<std::uint32_t> const& ptr, std::vector<std::string> const& parts) {
    GivenTree const given = Stump(0.5f, true);
    std::vector<std::uint32_t> const bits{1, 2};
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] {
                    forest.Add({given.left, given.right, given.feature, given.value, given.default_left, ptr, bits}, 0);
                  },
                  parts),
              "");
    EXPECT_EQ(forest.trees(), 1U);
    EXPECT_FALSE(forest.categorical());
  };
  wrong_categories({0, 1, 1}, {"category_ptr of tree 1 has 3 elements", "one more than its 3 nodes"});
  wrong_categories({0, 3, 3, 3}, {"node 0 of tree 1 are in words 0 to 3", "of 2"});
  wrong_categories({1, 0, 0, 0}, {"node 0 of tree 1 are in words 1 to 0"});
  Stump(0.5f, true, 4).AddTo(&forest);
  EXPECT_EQ(forest.trees(), 2U);
  EXPECT_EQ(forest.features(), 5U);
}

TEST(ForestRangeTest, RefusesWhatIsNotThere) {
  GivenTree second = Stump(0.5f, true);
  second.output = 1;
  Forest const forest = testing::MakeForest({Stump(0.5f, true), second});
  MemorySource const source{testing::RandomValues({4, 1}, 1)};
  std::vector<float> margins(8);
  auto const predict = [&](std::size_t first, std::size_t last, std::uint64_t rows, std::uint32_t outputs) {
    host::PredictMargins(source, forest, first, last, RowMajor(margins.data(), rows, outputs), 1);
  };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(0, 3, 4, 2); }, {"Trees 0 to 3", "of a forest of 2"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(2, 1, 4, 2); }, {"Trees 2 to 1", "first <= last <= 2"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(0, 2, 3, 2); }, {"3 rows", "data have 4"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(0, 2, 4, 1); }, {"1 outputs", "are for 2"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { host::PredictLeaves(source, forest, 1, 3, margins.data(), 1); },
                                         {"Trees 1 to 3"}),
            "");
}

ForestLoad Load(std::uint64_t rows, std::uint32_t columns, std::uint64_t trees, std::uint64_t tree_words = 512) {
  return {rows, columns, trees, trees * tree_words, 132, 232448, 233472};
}

TEST(ForestPlanTest, ManyRowsOfFewColumnsHaveLargeBlocks) {
  ForestPlan const plan = MakeForestPlan(Load(10500000, 28, 500));
  EXPECT_TRUE(plan.staged);
  EXPECT_EQ(plan.block_rows, 512U);
  EXPECT_EQ(plan.buffers, 2U);
  EXPECT_EQ(plan.bytes, 512U * 28 * 4 + 2 * (16U << 10));
  EXPECT_EQ(MakeForestPlan(Load(10000, 28, 500)).block_rows, 64U);  // few rows a block give more multiprocessors work
  EXPECT_EQ(MakeForestPlan(Load(500000, 28, 1)).bytes, 512U * 28 * 4 + 4096);
}

TEST(ForestPlanTest, WideRowsAreStagedForManyTreesOnly) {
  EXPECT_TRUE(MakeForestPlan(Load(1000000, 400, 500)).staged);
  EXPECT_FALSE(MakeForestPlan(Load(1000000, 400, 1)).staged);
  ForestPlan const plan = MakeForestPlan(Load(1000000, 4000, 500));
  EXPECT_FALSE(plan.staged);
  EXPECT_EQ(plan.row_bytes(), 0U);
  EXPECT_EQ(plan.bytes, 2U * (16U << 10));
}

TEST(ForestPlanTest, SymmetricTreesHaveTwoBlocksAProcessor) {
  constexpr std::uint64_t kWords = 8 + 128;  // tests and leaves of 8 levels
  auto const plan_for = [](std::uint64_t rows, std::uint32_t columns, std::uint64_t trees) {
    return MakeForestPlan(Load(rows, columns, trees, kWords), kLevelForestPolicy);
  };
  EXPECT_EQ(plan_for(10500000, 28, 500).block_rows, 512U);
  EXPECT_EQ(plan_for(10500000, 28, 500).bytes, 512U * 28 * 4 + 2 * (16U << 10));
  EXPECT_EQ(plan_for(75000, 28, 500).block_rows, 256U);
  EXPECT_FALSE(plan_for(10500000, 28, 1).staged);
  EXPECT_TRUE(plan_for(10500000, 0, 20).staged);  // trees that are leaves
}

TEST(ForestPlanTest, OneBufferHoldsOneChunkOnly) {
  EXPECT_EQ(MakeForestPlan(Load(1000, 28, 4)).buffers, 1U);
  EXPECT_EQ(MakeForestPlan(Load(1000, 28, 5)).buffers, 2U);
  EXPECT_EQ(MakeForestPlan(Load(1000, 28, 32, 4)).buffers, 1U);
  EXPECT_EQ(MakeForestPlan(Load(1000, 28, 33, 4)).buffers, 2U);  // the trees are small, but too many for one look
}

TEST(ForestPlanTest, MemoryIsWithinTheDevicesLimits) {
  for (std::size_t const block_bytes :
       {std::size_t{48} << 10, std::size_t{64} << 10, std::size_t{99} << 10, std::size_t{227} << 10}) {
    for (std::uint32_t columns = 1; columns < 3000; columns = columns * 3 / 2 + 1) {
      for (std::uint64_t const rows : {1U, 1000U, 100000U, 10000000U}) {
        for (std::uint64_t const trees : {1U, 40U, 5000U}) {
          for (ForestPolicy const& policy : {ForestPolicy{}, kLevelForestPolicy}) {
            ForestPlan const plan =
                MakeForestPlan({rows, columns, trees, trees * 300, 100, block_bytes, block_bytes}, policy);
            ASSERT_LE(plan.bytes, block_bytes);
            ASSERT_EQ(plan.bytes, plan.row_bytes() + std::size_t{plan.buffers} * plan.chunk_words * 8);
            ASSERT_EQ(plan.block_rows % 32U, 0U);
            ASSERT_EQ(plan.chunk_words % 2, 0U);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace xgbgpu
