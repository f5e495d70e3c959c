// What must not change a tree: threads, order of rows, repetition instead of weight, layout, units.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "matrix/matrix.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"

namespace xgbgpu {
namespace {

using reference::Values;
using testing::DataShape;
using testing::Random;
using testing::TreeCase;

/// Returns the rows of `c` in the order that `order` lists, each as often as it is listed.
TreeCase Rearranged(TreeCase const& c, std::vector<std::size_t> const& order) {
  TreeCase result{Values{order.size(), c.values.features}, {}, c.params, c.max_bin};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t f = 0; f < c.values.features; ++f) result.values(i, f) = c.values(order[i], f);
    result.gradients.push_back(c.gradients[order[i]]);
    if (!c.weights.empty()) result.weights.push_back(c.weights[order[i]]);
  }
  return result;
}

class InvarianceTest : public ::testing::TestWithParam<std::tuple<BackendKind, GrowPolicy, double>> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(Backend()); }
  static BackendKind Backend() { return std::get<0>(GetParam()); }
  static double Missing() { return std::get<2>(GetParam()); }
  static Tree Grow(TreeCase const& c, int threads = 2) { return testing::Grow(c, {Backend(), threads}); }

  TreeCase MakeCase(std::size_t rows, std::uint64_t seed) const {
    auto c = testing::RandomCase({rows, 8, Missing()}, seed);
    c.max_bin = 64;
    c.params.grow_policy = std::get<1>(GetParam());
    c.params.max_depth = 7;
    return c;
  }
};

TEST_P(InvarianceTest, ThreadsWithTheNarrowFormatAndManyChunks) {
  auto c = MakeCase((std::size_t{1} << 18) + 1001, 141);
  c.params.max_depth = 5;
  c.params.subsample = 0.8f;
  Tree const expected = Grow(c, 1);
  EXPECT_GT(expected.Leaves(), 20U);
  for (int threads : {2, 3, 7}) EXPECT_EQ(Grow(c, threads), expected) << threads;
}

TEST_P(InvarianceTest, OrderOfRows) {
  auto c = MakeCase(5000, 142);
  for (std::size_t r = 0; r < c.values.rows; ++r) c.weights.push_back(static_cast<float>(r % 7) * 0.5f);
  Tree const expected = Grow(c);
  Random random{143};
  std::vector<std::size_t> order(c.values.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.Below(i + 1)]);
    EXPECT_EQ(Grow(Rearranged(c, order)), expected);
  }
}

TEST_P(InvarianceTest, ARowTwiceIsARowOfWeightTwo) {
  // In the wide format, with at most 2^17 rows on both sides, twice the gradient in twice the unit is the same integer.
  auto c = MakeCase(3000, 144);
  std::vector<std::size_t> twice;
  for (std::size_t r = 0; r < c.values.rows; ++r) twice.insert(twice.end(), {r, r});
  auto const repeated = Rearranged(c, twice);
  for (auto& g : c.gradients) g = {g.grad * 2, g.hess * 2};
  c.weights.assign(c.values.rows, 2.0f);
  EXPECT_EQ(Grow(c), Grow(repeated));
}

TEST_P(InvarianceTest, AnyRepetitionIsAWeight) {
  // Now the largest gradient, hence the unit, may change. Gradients of 20 bits are exact in either unit.
  auto c = MakeCase(2000, 145);
  std::vector<std::size_t> repeated;
  for (std::size_t r = 0; r < c.values.rows; ++r) {
    auto& g = c.gradients[r];
    g = {static_cast<float>(static_cast<int>(g.grad * 0x1p20f)) * 0x1p-20f,
         static_cast<float>(static_cast<int>(g.hess * 0x1p20f)) * 0x1p-20f};
    repeated.insert(repeated.end(), r % 4, r);
  }
  auto const expected = Grow(Rearranged(c, repeated));
  for (std::size_t r = 0; r < c.values.rows; ++r) {
    auto const w = static_cast<float>(r % 4);
    c.weights.push_back(w);
    c.gradients[r] = {c.gradients[r].grad * w, c.gradients[r].hess * w};
  }
  EXPECT_EQ(Grow(c), expected);
}

TEST_P(InvarianceTest, EmptyColumnsMakeItSparseAndNothingElse) {
  auto const c = MakeCase(2000, 146);
  TreeCase wide{Values{c.values.rows, 100}, c.gradients, c.params, c.max_bin};
  for (std::size_t r = 0; r < c.values.rows; ++r) {
    for (std::size_t f = 0; f < c.values.features; ++f) wide.values(r, f) = c.values(r, f);
  }
  EXPECT_NE(testing::BinsOf(*testing::MakeDataset(c)).layout == MatrixLayout::kSparse16, Missing() < 0.5);
  EXPECT_EQ(testing::BinsOf(*testing::MakeDataset(wide)).layout, MatrixLayout::kSparse16);
  EXPECT_EQ(Grow(wide), Grow(c));
}

TEST_P(InvarianceTest, UnitsOfGradientsAndFeatures) {
  // Without regularisation a common power of two in gradients and hessians only scales the gain, and one in a feature
  // only the thresholds.
  auto c = MakeCase(2000, 147);
  c.params.reg_lambda = 0;
  c.params.min_child_weight = 0;
  Tree const expected = Grow(c);
  for (auto& g : c.gradients) g = {g.grad * 0x1p10f, g.hess * 0x1p10f};
  for (float& v : c.values.at) v *= 4;
  Tree const tree = Grow(c);
  EXPECT_EQ(tree.left, expected.left);
  EXPECT_EQ(tree.feature, expected.feature);
  EXPECT_EQ(tree.split_bin, expected.split_bin);
  EXPECT_EQ(tree.default_left, expected.default_left);
  EXPECT_EQ(tree.weight, expected.weight);
  for (std::size_t n = 0; n < tree.size(); ++n) EXPECT_EQ(tree.gain[n], expected.gain[n] * 0x1p10f) << n;
}

TEST_P(InvarianceTest, TheTreeBeforeDoesNotShow) {
  auto const c = MakeCase(2000, 148);
  Tree const expected = Grow(c);
  Trainer trainer{testing::MakeDataset(c, {Backend()}), Backend(), 2};
  auto other = c.params;
  other.max_depth = 3;
  other.subsample = 0.5f;
  other.colsample_bytree = 0.4f;
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_NE(trainer.Grow(other, testing::RandomGradients(c.values, 149 + i), {i, 0}), expected);
    EXPECT_EQ(trainer.Grow(c.params, c.gradients, {0, 0}), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, InvarianceTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kBackends),
                                            ::testing::ValuesIn(testing::kPolicies), ::testing::Values(0.1, 0.85)),
                         [](auto const& c) {
                           return testing::NameOf(std::get<0>(c.param)) + testing::NameOf(std::get<1>(c.param)) +
                                  (std::get<2>(c.param) < 0.5 ? "Dense" : "Sparse");
                         });

}  // namespace
}  // namespace xgbgpu
