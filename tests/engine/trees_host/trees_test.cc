// driver: whole trees equal those of the reference, bit for bit.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "exact/sorted_matrix.h"
#include "reference/tree.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "support/tree_cases.h"
#include "trees_host/exact_host.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::Grow;
using testing::GrowReference;
using testing::TreeCase;

class WholeTreeTest : public ::testing::TestWithParam<std::tuple<BackendKind, testing::NamedCase>> {};

TEST_P(WholeTreeTest, EqualsTheReference) {
  auto const [kind, named] = GetParam();
  XGBGPU_SKIP_UNLESS_HERE(kind);
  auto c = testing::RandomCase(named.shape, 131);
  c.max_bin = 32;
  named.set(&c);
  for (GrowPolicy policy : testing::kPolicies) {
    testing::SetPolicy(&c.params, policy);
    Tree const expected = GrowReference(c);
    Tree const tree = Grow(c, {kind});
    ASSERT_EQ(tree, expected) << testing::NameOf(policy);
    for (int threads : c.values.rows < 100000 ? std::vector<int>{1, 3, 7} : std::vector<int>{3}) {
      EXPECT_EQ(Grow(c, {kind, threads, 100}), tree) << threads << " threads, batches of 100 rows";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, WholeTreeTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kBackends),
                                            ::testing::ValuesIn(testing::kTreeCases)),
                         [](auto const& c) {
                           return testing::NameOf(std::get<0>(c.param)) + std::get<1>(c.param).name;
                         });

class WholeTreeShapeTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
  static Tree Grow(TreeCase const& c) { return testing::Grow(c, {GetParam()}); }
};

TEST_P(WholeTreeShapeTest, TheCasesAboveDoWhatTheirNamesSay) {
  auto c = testing::RandomCase(testing::kMissingSome, 131);
  c.max_bin = 32;
  EXPECT_GT(Grow(c).Leaves(), 30U);
  c.params.max_leaves = 11;
  EXPECT_EQ(Grow(c).Leaves(), 11U);
  c.params.min_split_loss = 1e6f;
  EXPECT_EQ(Grow(c).Leaves(), 1U);
}

TEST_P(WholeTreeShapeTest, MaximumNumberOfBins) {
  TreeCase c = testing::RandomCase({70000, 2}, 132);
  for (std::size_t r = 0; r < c.values.rows; ++r) c.values(r, 0) = static_cast<float>(r * 7919 % c.values.rows);
  c.values(9, 1) = reference::kMissing;
  c.max_bin = 65535;
  c.params.max_depth = 4;
  EXPECT_EQ(Grow(c), GrowReference(c));
}

TEST_P(WholeTreeShapeTest, AMillionSparseColumns) {
  // 100 rows have values in 300 of 10^6 columns. The tree is that of the 300 alone, with their numbers.
  constexpr FeatureIndex kColumns = 1000000, kStep = 3331;
  TreeCase c = testing::RandomCase({100, 300, 0.3}, 133);
  c.params.min_child_weight = 0.1f;
  testing::MemorySource source{c.values};
  for (auto& row : source.data()) {
    for (Entry& e : row) e.feature *= kStep;
  }
  auto const data = Dataset::Build(testing::MemorySource{source.data(), kColumns}, {}, c.max_bin, 2, {GetParam(), 0});
  EXPECT_EQ(data->features(), kColumns);
  Tree expected = GrowReference(c);
  ASSERT_GT(expected.Leaves(), 5U);
  Cuts const narrow_cuts = reference::MakeCuts(c.values, {}, c.max_bin);
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (expected.left[n] == kNoNode) continue;
    FeatureIndex const f = expected.feature[n];
    expected.split_bin[n] += data->cuts().ptr[f * kStep] - narrow_cuts.ptr[f];
    expected.feature[n] = f * kStep;
  }
  Trainer trainer{data, GetParam(), 2};
  EXPECT_EQ(trainer.Grow(c.params, c.gradients, {}), expected);
}

TEST_P(WholeTreeShapeTest, LeavesAddUpToTheRoot) {
  // A hessian sum is an integer times a power of two, below 2^53 units here. It is exact in double, and rounded to
  // float once.
  auto const c = testing::RandomCase(testing::kSparse, 134);
  Tree const tree = Grow(c);
  double sum = 0;
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode) sum += static_cast<double>(tree.sum_hess[n]);
  }
  EXPECT_NEAR(sum, static_cast<double>(tree.sum_hess[0]), 2 * 0x1p-24 * static_cast<double>(tree.sum_hess[0]));
}

INSTANTIATE_TEST_SUITE_P(Backends, WholeTreeShapeTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

// tests/cuda/cuda/failure_test.cc has the same for devices.
TEST(BuilderTest, RefusesWhatDoesNotFitItsRowsOrItsTree) {
  TreeCase const c = testing::RandomCase({200, 3}, 5);
  auto const data = testing::MakeDataset(c);
  auto const refused = [](auto&& call, std::vector<std::string> const& words) {
    return testing::WhatIsWrong<InvalidArgument>(call, words);
  };
  for (bool exact : {false, true}) {
    SCOPED_TRACE(exact);
    auto const builder = exact ? MakeHostExactBuilder(host::SortColumns(testing::MemorySource{c.values}, 2), 2)
                               : MakeHostTreeBuilder(testing::BinsOf(*data), 2);
    std::vector<GradientPair> const few(5);
    std::vector<float> margins(200);
    std::vector<NodeIndex> positions(200);
    std::vector<std::uint8_t> sampled_out(200, 1);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, {}); }, {"LeafPositions: no tree has been grown"}), "");
    Tree const tree = builder->Grow(c.params, c.gradients, {});
    std::vector<float> const values(tree.size() + 1);
    EXPECT_EQ(refused([&] { builder->AddLeafValues(values, margins.data(), 1); },
                      {"AddLeafValues: array of " + std::to_string(tree.size() + 1), std::to_string(tree.size())}),
              "");
    builder->LeafPositions(positions, sampled_out);
    EXPECT_EQ(sampled_out, std::vector<std::uint8_t>(200));
    sampled_out.resize(3);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, sampled_out); }, {"array of 3", "200"}), "");
    positions.resize(199);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, {}); }, {"array of 199", "200"}), "");
    EXPECT_EQ(refused([&] { builder->Grow(c.params, few, {}); }, {"5 gradients", "200 rows"}), "");
    positions.resize(200);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, {}); }, {"no tree"}), "");
  }
}

}  // namespace
}  // namespace xgbgpu
