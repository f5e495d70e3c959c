// Leaf values are near those of plain float64 sums, with heavy tails and with the narrow format.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradient/gradient.h"
#include "reference/gradient.h"
#include "support/data.h"
#include "support/grow.h"

namespace xgbgpu {
namespace {

/// How far the fixed point may put a sum of n gradients off, in units.
using Noise = std::function<double(double n)>;

/// Compares every leaf value with -G / (H + lambda) · learning rate, G and H summed in double over the leaf's rows.
///
/// With |dG| and |dH| the errors of the sums, the weight w is off by at most (|dG| + |w| |dH|) / (H + lambda - |dH|).
/// Two roundings to float follow, of the weight and of its product with the learning rate: 2^-23 of the value. The sums
/// in double are off by n · 2^-53 of the sum of magnitudes, which the factor 1.001 covers many times.
void CheckLeaves(BackendKind kind, testing::TreeCase const& c, Noise const& noise, std::size_t least_leaves) {
  Trainer trainer{testing::MakeDataset(c, {kind}), kind, 2};
  Tree const tree = trainer.Grow(c.params, c.gradients, {});
  ASSERT_GE(tree.Leaves(), least_leaves);
  std::vector<NodeIndex> positions(c.values.rows);
  trainer.LeafPositions(positions, {});

  std::vector<double> grad(tree.size()), hess(tree.size()), rows(tree.size());
  for (std::size_t r = 0; r < positions.size(); ++r) {
    auto const n = static_cast<std::size_t>(positions[r]);
    grad[n] += static_cast<double>(c.gradients[r].grad);
    hess[n] += static_cast<double>(c.gradients[r].hess);
    rows[n] += 1;
  }
  auto const format = host::ChooseGradientFormat(c.gradients, c.gradients.size(), c.params.min_child_weight, 1);
  double const grad_unit = std::ldexp(1.0, -format.grad_shift), hess_unit = std::ldexp(1.0, -format.hess_shift);
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] != kNoNode || rows[n] == 0) continue;  // a leaf without rows, of a symmetric tree
    double const lambda = c.params.reg_lambda;
    double const w = -grad[n] / (hess[n] + lambda);
    double const d_grad = noise(rows[n]) * grad_unit, d_hess = noise(rows[n]) * hess_unit;
    double const error = (d_grad + std::fabs(w) * d_hess) / (hess[n] + lambda - d_hess);
    double const rate = c.params.learning_rate;
    EXPECT_NEAR(static_cast<double>(tree.leaf_value[n]), w * rate, 1.001 * (error + 0x1p-23 * std::fabs(w)) * rate)
        << "leaf " << n << " of " << rows[n] << " rows";
  }
}

double HalfAUnitPerRow(double n) { return n / 2; }

/// The bound for hessians that may be smaller than a unit, and count as one.
double AUnitPerRow(double n) { return n; }

/// The bound for random rounding. Each row is off by less than one unit, with an expectation of at most 2^-17. By
/// Hoeffding's inequality the sum of n independent rows exceeds sqrt(n · 14) beyond that with a chance below 2
/// exp(-28) = 1.4e-12.
double RandomRounding(double n) { return std::sqrt(14 * n) + n * 0x1p-17; }

class PrecisionTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
  static void CheckLeaves(testing::TreeCase const& c, Noise const& noise, std::size_t least_leaves) {
    xgbgpu::CheckLeaves(GetParam(), c, noise, least_leaves);
  }
};

TEST_P(PrecisionTest, OneGradientAMillionTimesTheRest) {
  for (std::size_t rows : {std::size_t{2000}, std::size_t{kNarrowMinRows}}) {
    auto c = testing::RandomCase({rows, 4}, 151);
    c.params.max_depth = 5;
    c.gradients[rows / 2].grad = 1e6f;
    ASSERT_FALSE(host::ChooseGradientFormat(c.gradients, c.gradients.size(), c.params.min_child_weight, 2).narrow);
    CheckLeaves(c, HalfAUnitPerRow, 8);
  }
}

TEST_P(PrecisionTest, HeavyTailOfBothSigns) {
  // Magnitudes lie over nine decades, as with squared error on amounts of money.
  auto c = testing::RandomCase({kNarrowMinRows, 4}, 152);
  testing::Random random{153};
  for (auto& g : c.gradients) {
    float const u = random.Uniform() + 0x1p-24f;
    g = {(random.Below(2) == 0 ? -1.0f : 1.0f) * 10.0f / (u * u * u * u * u * 1e3f + 1e-8f), 1.0f};
  }
  ASSERT_FALSE(host::ChooseGradientFormat(c.gradients, c.gradients.size(), c.params.min_child_weight, 2).narrow);
  c.params.min_child_weight = 100;
  CheckLeaves(c, HalfAUnitPerRow, 8);
}

TEST_P(PrecisionTest, NarrowFormat) {
  for (auto policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide}) {
    auto c = testing::RandomCase({kNarrowMinRows + 5, 4, 0.1}, 154);
    c.params.max_depth = 6;
    c.params.grow_policy = policy;
    ASSERT_TRUE(host::ChooseGradientFormat(c.gradients, c.gradients.size(), c.params.min_child_weight, 2).narrow);
    CheckLeaves(c, RandomRounding, 32);
  }
}

TEST_P(PrecisionTest, NarrowFormatWithLogisticGradients) {
  // Gradients are p - y and hessians p (1 - p) with a rare class, so most hessians are far below the largest.
  auto c = testing::RandomCase({kNarrowMinRows, 4}, 155);
  testing::Random random{156};
  for (std::size_t r = 0; r < c.gradients.size(); ++r) {
    float const p = c.values(r, 0) > 3.8f ? 0.5f : 0.002f;
    bool const y = random.Uniform() < (c.values(r, 1) > 0 ? 1.8f : 0.2f) * p;
    c.gradients[r] = {p - (y ? 1.0f : 0.0f), p * (1 - p)};
  }
  ASSERT_TRUE(host::ChooseGradientFormat(c.gradients, c.gradients.size(), c.params.min_child_weight, 2).narrow);
  CheckLeaves(c, RandomRounding, 8);
}

// Nearly all rows have gradients beside hessians that are as good as 0, as outliers of reg:pseudohubererror have. Their
// leaves are -G / lambda. Had each hessian a narrow unit at least, leaves of a thousand such rows would be a tenth off.
TEST_P(PrecisionTest, NearlyAllHessiansAreTiny) {
  for (auto policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide, GrowPolicy::kSymmetric}) {
    auto c = testing::RandomCase({kNarrowMinRows + 5, 4, 0.1}, 159);
    testing::SetPolicy(&c.params, policy);
    c.params.max_depth = 4;
    c.params.min_child_weight = 0;
    testing::Random random{160};
    for (std::size_t r = 0; r < c.gradients.size(); ++r) {
      float const sign = c.values(r, r % 2) > 2 ? 1.0f : -1.0f;
      c.gradients[r] = {sign * random.Between(0.5f, 1.0f), r % 100 == 0 ? 1.0f : 1e-10f};
    }
    ASSERT_FALSE(host::ChooseGradientFormat(c.gradients, c.gradients.size(), 0.0f, 2).narrow);
    CheckLeaves(c, AUnitPerRow, 8);
  }
}

TEST_P(PrecisionTest, SmallData) { CheckLeaves(testing::RandomCase({500, 5, 0.2}, 157), HalfAUnitPerRow, 8); }

TEST_P(PrecisionTest, GradientsOfAnyScale) {
  // A scale of 2^-100 is as good as 1 where nothing else sets one.
  auto c = testing::RandomCase({500, 5, 0.2}, 158);
  c.params.reg_lambda = 0;
  c.params.min_child_weight = 0;
  for (auto& g : c.gradients) g = {g.grad * 0x1p-60f, g.hess * 0x1p-50f};
  CheckLeaves(c, HalfAUnitPerRow, 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, PrecisionTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

}  // namespace
}  // namespace xgbgpu
