// split: the best of all (feature, bin, direction), in the documented order on ties.
#include "split/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradient/gradient.h"
#include "histogram/histogram.h"
#include "reference/tree.h"
#include "split/split_ops.h"
#include "support/data.h"
#include "support/layouts.h"

namespace xgbgpu {
namespace {

using testing::DataShape;
using testing::Random;

/// A node with all rows, prepared for both sides.
struct SplitCase {
  SplitCase(DataShape const& shape, int max_bin, std::uint64_t seed)
      : SplitCase{testing::RandomValues(shape, seed), max_bin, seed} {}
  SplitCase(reference::Values const& v, int max_bin, std::uint64_t seed)
      : values{v}, matrix{testing::MakeMatrix(values, max_bin)}, bins{reference::MakeBins(values, matrix->cuts)} {
    SetGradients(testing::RandomGradients(values, seed + 1));
    rows.resize(values.rows);
    std::iota(rows.begin(), rows.end(), 0U);
    features.resize(values.features);
    std::iota(features.begin(), features.end(), 0U);
  }

  void SetGradients(std::vector<GradientPair> const& pairs) {
    gradients = reference::Quantise(pairs, pairs.size(), 1.0f, 0, 0);
    format = {false, gradients.grad_shift, gradients.hess_shift};
  }

  SplitCandidate Engine(TrainParams const& p) const {
    host::HistogramBuilder builder{*matrix, 2};
    Buffer<GradientSum> sums{matrix->cells()};
    GradientView const view{format, nullptr, gradients.rows.data()};
    auto list = testing::Records(rows);
    GradientSum const total = host::AttachGradients(view, list, 1);
    std::vector<host::HistogramJob> const jobs{{list, sums.data()}};
    builder.Build(*matrix, view, jobs);
    return host::EvaluateSplits(SplitParams{p, format}, *matrix, sums.data(), total, features);
  }

  void Check(TrainParams const& p) const {
    SplitCandidate const found = Engine(p);
    auto const expected = reference::FindSplit(bins, matrix->cuts, gradients, p, rows, features);
    ASSERT_EQ(found.gain, expected.gain);
    if (expected.gain == 0) return;
    EXPECT_EQ(found.feature, expected.feature);
    EXPECT_EQ(found.bin, static_cast<BinIndex>(expected.bin));
    EXPECT_EQ(found.default_left, expected.default_left);
    EXPECT_EQ(found.left, expected.left);
    EXPECT_EQ(found.right, expected.right);
  }

  reference::Values values;
  std::unique_ptr<QuantisedMatrix> matrix;
  reference::Bins bins;
  reference::FixedPoint gradients;
  GradientFormat format;
  std::vector<RowIndex> rows;
  std::vector<FeatureIndex> features;
};

TrainParams RandomParams(Random* random) {
  TrainParams p;
  p.reg_lambda = random->Below(2) == 0 ? 0.0f : random->Between(0, 5);
  p.reg_alpha = random->Below(2) == 0 ? 0.0f : random->Between(0, 3);
  p.max_delta_step = random->Below(2) == 0 ? 0.0f : random->Between(0.01f, 0.5f);
  p.min_child_weight = random->Below(2) == 0 ? 0.0f : random->Between(0, 10);
  if (random->Below(2) == 0) p.regularisation = Regularisation::kOf3_4;
  return p;
}

TEST(SplitTest, EqualsBruteForceForAnyParameters) {
  Random random{81};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (double missing : {0.0, 0.15, 0.85}) {
      SplitCase const c{DataShape{60 + random.Below(200), 1 + random.Below(9), missing, random.Below(2) * 6}, 16,
                        1000 + seed};
      for (int i = 0; i < 6; ++i) c.Check(RandomParams(&random));
    }
  }
}

TEST(SplitTest, SubsetsOfFeatures) {
  SplitCase c{DataShape{300, 8, 0.3}, 16, 82};
  for (std::vector<FeatureIndex> const& features : {std::vector<FeatureIndex>{}, {3}, {1, 7}, {0, 2, 4, 6}}) {
    c.features = features;
    c.Check(TrainParams{});
  }
}

TEST(SplitTest, SubsetsOfRowsLeaveBinsEmpty) {
  SplitCase c{DataShape{400, 4, 0.4}, 32, 83};
  for (std::size_t n : {0U, 1U, 2U, 5U, 20U}) {
    c.rows.resize(n);
    for (std::size_t i = 0; i < n; ++i) c.rows[i] = static_cast<RowIndex>(i * 17);
    TrainParams p;
    p.min_child_weight = 0;
    c.Check(p);
  }
}

TEST(SplitTest, TiesGoToTheSmallerFeature) {
  auto values = testing::RandomValues({200, 4}, 84);
  for (std::size_t r = 0; r < values.rows; ++r) values(r, 3) = values(r, 2) = values(r, 1) = values(r, 0);
  SplitCase const c{values, 16, 85};
  EXPECT_EQ(c.Engine(TrainParams{}).feature, 0U);
  c.Check(TrainParams{});
}

TEST(SplitTest, TiesInsideAFeatureGoToTheFirstOfTheScan) {
  // Gradients are symmetric about the middle. Bins 1|2 3 and 1 2|3 have the same gain, as has every empty bin in
  // between.
  SplitCase c{testing::RandomValues({6, 1}, 86), 16, 86};
  c.values.at = {1, 2, 3, 4, 5, 6};
  c = SplitCase{c.values, 16, 86};
  c.SetGradients({{1, 1}, {0, 0}, {-2, 1}, {-2, 1}, {0, 0}, {1, 1}});
  TrainParams p;
  p.min_child_weight = 0;
  SplitCandidate const found = c.Engine(p);
  EXPECT_EQ(found.bin, 1U);
  EXPECT_FALSE(found.default_left);
  c.Check(p);
}

TEST(SplitTest, MissingValuesThatSumToNothingStayRight) {
  SplitCase c{DataShape{80, 2, 0.3}, 16, 87};
  auto pairs = testing::RandomGradients(c.values, 88);
  for (std::size_t r = 0; r < c.values.rows; ++r) {
    if (std::isnan(c.values(r, 0)) || std::isnan(c.values(r, 1))) pairs[r] = {0, 0};
  }
  c.SetGradients(pairs);
  EXPECT_FALSE(c.Engine(TrainParams{}).default_left);
  c.Check(TrainParams{});
}

TEST(SplitTest, PresentAgainstMissing) {
  // A row has one value or none. The only split is between present and missing values.
  reference::Values values{100, 1};
  std::vector<GradientPair> pairs(100, {0.5f, 1.0f});
  for (std::size_t r = 0; r < 100; r += 4) {
    values(r, 0) = 3.0f;
    pairs[r].grad = -0.5f;
  }
  SplitCase c{values, 16, 89};
  c.SetGradients(pairs);
  SplitCandidate const found = c.Engine(TrainParams{});
  EXPECT_GT(found.gain, 0.0f);
  EXPECT_EQ(found.bin, 1U);  // all bins go left, missing values right
  EXPECT_FALSE(found.default_left);
  EXPECT_EQ(found.left.hess, 25 * c.gradients.rows[0].hess);
  c.Check(TrainParams{});
}

TEST(SplitTest, NothingToGain) {
  SplitCase c{DataShape{50, 3}, 16, 90};
  c.SetGradients(std::vector<GradientPair>(50, {0.25f, 1.0f}));  // every child has the parent's weight
  TrainParams p;
  p.reg_lambda = 0;
  EXPECT_LE(c.Engine(p).gain, kLeastGain);
  c.SetGradients(std::vector<GradientPair>(50, {0.0f, 0.0f}));
  EXPECT_EQ(c.Engine(p).gain, 0.0f);
  p = TrainParams{};
  p.min_child_weight = 1e6f;
  EXPECT_EQ(c.Engine(p).gain, 0.0f);
}

TEST(SplitTest, NegativeHessiansAreNoWeight) {
  SplitCase c{DataShape{60, 2, 0.2}, 16, 91};
  auto pairs = testing::RandomGradients(c.values, 92);
  for (std::size_t r = 0; r < pairs.size(); r += 2) pairs[r].hess = -pairs[r].hess;
  c.SetGradients(pairs);
  TrainParams p;
  p.min_child_weight = 0;
  p.reg_lambda = 0;
  c.Check(p);
  SplitCandidate const found = c.Engine(p);
  if (found.gain > 0) {
    EXPECT_GT(found.left.hess, 0);
    EXPECT_GT(found.right.hess, 0);
  }
}

TEST(SplitTest, AGainThatIsNotFiniteIsNone) {
  SplitCase c{DataShape{40, 2}, 16, 93};
  std::vector<GradientPair> pairs(40, {3e38f, 1e-38f});
  for (std::size_t r = 0; r < 40; r += 2) pairs[r].grad = -3e38f;
  c.SetGradients(pairs);
  TrainParams p;
  p.min_child_weight = 0;
  p.reg_lambda = 0;
  EXPECT_EQ(c.Engine(p).gain, 0.0f);
}

TEST(SplitFormulaTest, NearLongDouble) {
  // NodeGain is off by at most 5 roundings of 2^-53 of itself: threshold, product, sum H + lambda, quotient, and the
  // conversion of a sum beyond 2^53. SplitGain adds two sums, of terms that add up to L + R + P, and one rounding to
  // float.
  Random random{94};
  for (int i = 0; i < 20000; ++i) {
    TrainParams const params = [&] {
      TrainParams p;
      p.reg_lambda = random.Between(0, 3);
      p.reg_alpha = random.Between(0, 3);
      p.min_child_weight = 0;
      return p;
    }();
    SplitParams const p{params, {false, 20, 20}};
    auto const sum = [&] {
      return GradientSum{static_cast<std::int64_t>(random.Below(1 << 26)) - (1 << 25),
                         static_cast<std::int64_t>(random.Below(1 << 26)) + 1};
    };
    GradientSum const left = sum(), right = sum(), all{left.grad + right.grad, left.hess + right.hess};
    auto const exact = [&](GradientSum s) {
      long double const g = std::fabs(std::ldexp(static_cast<long double>(s.grad), -20)) - params.reg_alpha;
      return g <= 0 ? 0.0L : g * g / (std::ldexp(static_cast<long double>(s.hess), -20) + params.reg_lambda);
    };
    long double const expected = exact(left) + exact(right) - exact(all);
    float const gain = SplitGain(p, left, right, NodeGain(p, ToLoss(p, all)));
    long double const terms = exact(left) + exact(right) + exact(all);
    ASSERT_NEAR(gain, static_cast<double>(expected),
                static_cast<double>(7 * 0x1p-53L * terms + 0x1p-24L * std::fabs(expected)));
  }
}

TEST(SplitFormulaTest, WeightIsClippedAndThresholded) {
  TrainParams params;
  params.reg_lambda = 1;
  params.reg_alpha = 2;
  params.min_child_weight = 3;
  SplitParams p{params, {false, 0, 0}};
  EXPECT_EQ(NodeWeight(p, {10, 3}), -2.0);
  EXPECT_EQ(NodeWeight(p, {-10, 3}), 2.0);
  EXPECT_EQ(NodeWeight(p, {1.5, 3}), 0.0);
  EXPECT_EQ(NodeWeight(p, {10, 2.5}), 0.0);  // lighter than min_child_weight
  params.max_delta_step = 0.5f;
  p = SplitParams{params, {false, 0, 0}};
  EXPECT_EQ(NodeWeight(p, {10, 3}), -0.5);
  EXPECT_EQ(NodeWeight(p, {-10, 3}), 0.5);
  EXPECT_EQ(NodeWeight(p, {3, 3}), -0.25);
}

}  // namespace
}  // namespace xgbgpu
