// exact: sorted columns, best splits and divided rows of a level against brute force; thresholds; pruning.
#include "exact/exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exact/exact_ops.h"
#include "exact/new_values_ops.h"
#include "gradient/gradient.h"
#include "support/data.h"
#include "support/exact_case.h"
#include "trees_host/exact_host.h"

namespace xgbgpu {
namespace {

using testing::ExactCase;
using testing::Random;

constexpr int kThreads[] = {1, 3};

class ExactStageTest : public ::testing::TestWithParam<testing::ExactCaseName> {};
INSTANTIATE_TEST_SUITE_P(Cases, ExactStageTest, ::testing::ValuesIn(testing::ExactCases()),
                         ::testing::PrintToStringParamName());

TEST_P(ExactStageTest, ColumnsAreSorted) {
  ExactCase const c = testing::MakeExactCase(GetParam());
  std::vector<RowIndex> rows;
  for (std::size_t r = 0; r < c.values.rows; ++r) rows.push_back(static_cast<RowIndex>(r));
  for (int const threads : kThreads) {
    auto const matrix = host::SortColumns(testing::MemorySource{c.values, 100}, threads);
    ASSERT_EQ(matrix->rows, c.values.rows);
    ASSERT_EQ(matrix->features(), c.features());
    for (FeatureIndex f = 0; f < c.features(); ++f) {
      auto const expected = reference::SortByValue(c.values, f, rows);
      Span<SortedValue const> const column = matrix->column(f);
      ASSERT_EQ(column.size(), expected.size()) << "feature " << f;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(column[i].row, expected[i]) << "feature " << f << ", entry " << i;
        ASSERT_EQ(column[i].value, c.values(expected[i], f)) << "feature " << f << ", entry " << i;
      }
    }
  }
}

/// The level's nodes below parents without rows, numbered as ExactCase::first says. Of the rows that are in none of
/// them, half are at node 0, and half at the level's first node but outside the sample.
struct Level {
  explicit Level(ExactCase const& c) {
    for (NodeIndex parent = 0; parent < c.first(); ++parent) nodes.Add(kNoNode, {});
    for (std::size_t n = 0; n < c.nodes.size(); ++n) nodes.Add(static_cast<NodeIndex>(n / 2), c.SumOf(c.nodes[n]));
    for (std::size_t r = 0; r < c.values.rows; ++r) {
      rows.push_back({c.gradients.rows[r], r % 2 == 0 ? NodeIndex{0} : ~(c.first())});
    }
    for (std::size_t n = 0; n < c.nodes.size(); ++n) {
      for (RowIndex const r : c.nodes[n]) rows[r].node = c.first() + static_cast<NodeIndex>(n);
    }
  }
  ExactNodes nodes;
  std::vector<host::ExactRow> rows;
};

TEST_P(ExactStageTest, SplitsAreTheBestOfAll) {
  ExactCase const c = testing::MakeExactCase(GetParam());
  Constraints const constraints{c.params, c.features()};
  NodeLimits const limits = c.Limits(constraints);
  auto const matrix = host::SortColumns(testing::MemorySource{c.values}, 1);
  std::vector<std::vector<FeatureIndex>> allowed;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) allowed.push_back(c.FeaturesOf(n));
  if (c.used.size() == c.values.features && c.allowed.empty()) allowed.clear();
  std::vector<reference::ExactSplit> expected;
  std::size_t found = 0;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    expected.push_back(c.BestSplit(n, limits.bounds(c.first() + static_cast<NodeIndex>(n))));
    found += expected.back().gain > 0 ? 1 : 0;
    EXPECT_TRUE(expected.back().gain > kLeastGain || c.nodes[n].size() < 100) << "the case tests nothing";
  }
  EXPECT_TRUE(found > 0 || c.values.rows <= c.nodes.size() || c.nodes[0].empty()) << "the case tests nothing";
  for (int const threads : kThreads) {
    Level level{c};
    SplitParams const params{c.params, c.format()};
    host::FindExactSplits({*matrix, level.rows, params, constraints, limits, c.first(), allowed}, threads,
                          &level.nodes);
    for (std::size_t n = 0; n < c.nodes.size(); ++n) {
      auto const number = static_cast<std::size_t>(c.first()) + n;
      SplitCandidate const& split = level.nodes.nodes[number].split;
      ASSERT_EQ(split.gain, expected[n].gain) << "node " << n;
      if (split.gain == 0) continue;
      EXPECT_EQ(split.feature, expected[n].feature) << "node " << n;
      EXPECT_EQ(split.default_left, expected[n].default_left) << "node " << n;
      EXPECT_EQ(split.left, expected[n].left) << "node " << n;
      EXPECT_EQ(split.right, expected[n].right) << "node " << n;
      EXPECT_EQ(level.nodes.thresholds[number], expected[n].threshold) << "node " << n;
    }
  }
}

TEST_P(ExactStageTest, RowsGoToTheirChildren) {
  ExactCase const c = testing::MakeExactCase(GetParam());
  auto const matrix = host::SortColumns(testing::MemorySource{c.values}, 1);
  Level level{c};
  Random random{c.nodes.size()};
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    if (random.Below(4) == 0) continue;
    NodeIndex const parent = c.first() + static_cast<NodeIndex>(n);
    auto const left = static_cast<NodeIndex>(level.nodes.nodes.size());
    level.nodes.Add(parent, {});
    level.nodes.Add(parent, {});
    level.nodes[parent].left = left;
    level.nodes[parent].split.feature = static_cast<FeatureIndex>(random.Below(c.values.features));
    level.nodes[parent].split.default_left = random.Below(2) == 0;
    level.nodes.thresholds[static_cast<std::size_t>(parent)] = static_cast<float>(random.Below(7)) - 3;
  }
  auto const expected = [&](std::size_t r) {
    NodeIndex const now = level.rows[r].node, at = now < 0 ? ~now : now;
    Node const& node = level.nodes[at];
    if (node.left == kNoNode) return now;
    float const v = c.values(r, node.split.feature);
    bool const is_below = v < level.nodes.thresholds[static_cast<std::size_t>(at)];
    NodeIndex const child = node.left + ((std::isnan(v) ? node.split.default_left : is_below) ? 0 : 1);
    return now < 0 ? ~child : child;
  };
  for (int const threads : kThreads) {
    std::vector<host::ExactRow> rows = level.rows;
    host::ApplyExactSplits(*matrix, level.nodes, c.first(), rows, threads);
    for (std::size_t r = 0; r < rows.size(); ++r) ASSERT_EQ(rows[r].node, expected(r)) << "row " << r;
  }
}

TEST(ExactThresholdTest, LiesBetweenTwoValues) {
  constexpr float kMost = std::numeric_limits<float>::max(), kLeast = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(ThresholdBetween(1, 2), 1.5f);
  EXPECT_EQ(ThresholdBetween(-2, 1), -0.5f);
  float const neighbour = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(ThresholdBetween(1, neighbour), neighbour);
  EXPECT_EQ(ThresholdBetween(0, kLeast), kLeast);
  EXPECT_EQ(ThresholdBetween(kMost / 2, kMost), kMost);  // the sum of both is infinite
  EXPECT_EQ(ThresholdBetween(-kMost, -kMost / 2), -kMost / 2);
  for (float const v : {-kMost, -3.0f, -kLeast, 0.0f, kLeast, 5.0f, 1e30f}) {
    EXPECT_GT(ThresholdAbove(v), v);
    EXPECT_LT(ThresholdBelow(v), v);
  }
}

/// Entries are looked at in words of 32, and belong to several nodes. An entry is new on its side if a new value, or a
/// node, has begun since the entry before it on that side.
TEST(NewValuesTest, AreThoseOfTheEntriesOfASide) {
  Random random{11};
  constexpr std::size_t kEntries = 32 * 200;
  for (std::size_t const one_in : {2, 5, 40}) {  // one entry in so many is on the side, or has a new value
    std::vector<bool> side(kEntries), fresh(kEntries), head(kEntries), expected(kEntries);
    bool since = false;
    for (std::size_t i = 0; i < kEntries; ++i) {
      side[i] = random.Below(one_in) == 0;
      head[i] = i == 0 || random.Below(one_in * 3) == 0;
      fresh[i] = head[i] || random.Below(one_in) == 0;
      since = fresh[i] || (since && !head[i]);
      expected[i] = side[i] && since;
      if (side[i]) since = false;
    }
    std::uint32_t pending = 0;
    for (std::size_t first = 0; first < kEntries; first += 32) {
      std::uint32_t side_bits = 0, fresh_bits = 0, expected_bits = 0;
      for (std::size_t bit = 0; bit < 32; ++bit) {
        if (side[first + bit]) side_bits |= 1U << bit;
        if (fresh[first + bit]) fresh_bits |= 1U << bit;
        if (expected[first + bit]) expected_bits |= 1U << bit;
      }
      ASSERT_EQ(NewOnSide(side_bits, fresh_bits, &pending), expected_bits) << "entry " << first << ", " << one_in;
    }
  }
}

// Exact trees of many rows have gradients of 30 bits, unless a hessian vanishes: its rows can be separated.
TEST(ExactFormatTest, RowsOfTinyHessiansCanBeSeparated) {
  constexpr std::size_t kRows = 70000;
  reference::Values values{kRows, 1};
  std::vector<GradientPair> gradients;
  for (std::size_t r = 0; r < kRows; ++r) {
    values(r, 0) = static_cast<float>(r % 10);
    gradients.push_back(r % 10 == 9 ? GradientPair{-1.0f, 1e-12f} : GradientPair{0.5f, 0.25f});
  }
  TrainParams params;
  ASSERT_TRUE(host::ChooseGradientFormat(gradients, gradients.size(), params.min_child_weight, 2).narrow);
  params.max_depth = 1;
  params.min_child_weight = 0;
  Tree const tree =
      MakeHostExactBuilder(host::SortColumns(testing::MemorySource{values}, 2), 2)->Grow(params, gradients, {});
  ASSERT_EQ(tree.size(), 3U);
  EXPECT_EQ(tree.threshold[0], 8.5f);
}

TEST(ExactPruneTest, CutsBackFromTheLeavesUpwards) {
  // Children: 0 → 1, 2; 1 → 3, 4; 2 → 5, 6. Gains: 1 for node 0, 5 for 1, 1 for 2.
  ExactNodes grown;
  grown.Add(kNoNode, {10, 10});
  auto const split = [&](NodeIndex parent, float gain) {
    NodeIndex const left = grown.Add(parent, {parent, 1});
    grown.Add(parent, {parent, 2});
    grown[parent].left = left;
    grown[parent].split.gain = gain;
    grown.thresholds[static_cast<std::size_t>(parent)] = gain + 0.5f;
  };
  split(0, 1);
  split(1, 5);
  split(2, 1);
  std::vector<NodeIndex> node_of;
  EXPECT_EQ(Prune(grown, 0, &node_of).nodes.size(), 7U);
  EXPECT_EQ(node_of, (std::vector<NodeIndex>{0, 1, 2, 3, 4, 5, 6}));
  ExactNodes const some = Prune(grown, 2, &node_of);  // the root stays because node 1 does
  ASSERT_EQ(some.nodes.size(), 5U);
  EXPECT_EQ(node_of, (std::vector<NodeIndex>{0, 1, 2, 3, 4, 2, 2}));
  EXPECT_EQ(some[0].left, 1);
  EXPECT_EQ(some[1].left, 3);
  EXPECT_EQ(some[2].left, kNoNode);
  EXPECT_EQ(some[4].parent, 1);
  EXPECT_EQ(some.thresholds[1], 5.5f);
  EXPECT_EQ(Prune(grown, 6, &node_of).nodes.size(), 1U);
  EXPECT_EQ(node_of, std::vector<NodeIndex>(7, 0));
}

}  // namespace
}  // namespace xgbgpu
