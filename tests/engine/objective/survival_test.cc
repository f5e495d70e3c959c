// objective: survival:aft against its definition with more digits; closed forms; extremes; bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/survival_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

using Exact = long double;

/// A number, and how far a double that the engine computes for it may be away. Every operation adds half a unit of the
/// last place of its result (2^-53 of it, or 2^-1075 among denormals) to what the errors of its operands become. This
/// bookkeeping is in long double, whose errors are 2^-11 of that: hence 1.001.
struct Bounded {
  Exact value, error;

  Bounded(Exact exact) : value{exact}, error{0} {}  // NOLINT: numbers are meant to become one
  Bounded(Exact v, Exact carried, Exact half_ulps = 1.0L)
      : value{v}, error{1.001L * (carried + (std::fabs(v) + carried) * half_ulps * 0x1p-53L + 0x1p-1074L)} {}
};
Bounded operator+(Bounded a, Bounded b) { return {a.value + b.value, a.error + b.error}; }
Bounded operator-(Bounded a, Bounded b) { return {a.value - b.value, a.error + b.error}; }
Bounded operator*(Bounded a, Bounded b) {
  return {a.value * b.value, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error};
}
/// The error is unlimited where the divisor may be 0.
Bounded operator/(Bounded a, Bounded b) {
  if (!(std::fabs(b.value) > b.error)) return {0, HUGE_VALL};
  Exact const ratio = a.value / b.value;
  return {ratio, (a.error + std::fabs(ratio) * b.error) / (std::fabs(b.value) - b.error)};
}
// The portable functions are off by 1 ulp; erf by 2.5.
Bounded Exp(Bounded a) { return {std::exp(a.value), std::exp(a.value) * std::expm1(a.error), 2}; }
Bounded Log(double a) { return {std::log(Exact{a}), 0, 2}; }
Bounded Erf(Bounded a) {
  constexpr Exact kSteepest = 1.1283791670955126L;
  return {std::erf(a.value), kSteepest * a.error, 5};
}

struct NoiseBounds {
  Bounded cdf, pdf, slope, curvature;
};

NoiseBounds NoiseAtPlace(AftDistribution distribution, Bounded z) {
  Bounded const one{1};
  if (distribution == AftDistribution::kNormal) {
    Bounded const pdf = Exp(Bounded{0} - z * z / 2) / Bounded{std::sqrt(2 * 3.14159265358979323846264L), 0};
    Bounded const cdf = Bounded{0.5L} * (one + Erf(z / Bounded{std::sqrt(Exact{2}), 0}));
    return {cdf, pdf, Bounded{0} - z * pdf, (z * z - 1) * pdf};
  }
  Bounded const w = Exp(z);
  if (distribution == AftDistribution::kLogistic) {
    Bounded const pdf = w / ((one + w) * (one + w));
    return {w / (one + w), pdf, pdf * (one - w) / (one + w),
            pdf * (w * w - Bounded{4} * w + 1) / ((one + w) * (one + w))};
  }
  Bounded const rest = Exp(Bounded{0} - w), pdf = w * rest;
  return {one - rest, pdf, (one - w) * pdf, (w * w - Bounded{3} * w + 1) * pdf};
}

struct Derivatives {
  Bounded grad, hess;
};

/// Returns the first and second derivative, by the margin, of minus the logarithm of a row's likelihood.
Derivatives Reference(ObjectiveParams const& params, float margin, float lower, float upper) {
  Bounded const scale{params.aft_scale};
  auto const at = [&](float time) {
    return NoiseAtPlace(params.aft_distribution, (Log(time) - Exact{margin}) / scale);
  };
  Bounded value{0}, slope{0}, curvature{0};
  if (lower == upper) {
    NoiseBounds const here = at(lower);
    value = here.pdf, slope = here.slope, curvature = here.curvature;
  } else {
    NoiseBounds const high = std::isinf(upper) ? NoiseBounds{1, 0, 0, 0} : at(upper);
    NoiseBounds const low = lower <= 0 ? NoiseBounds{0, 0, 0, 0} : at(lower);
    value = high.cdf - low.cdf, slope = high.pdf - low.pdf, curvature = high.slope - low.slope;
  }
  Bounded const unit = scale * value;
  return {slope / unit, (slope * slope - value * curvature) / (unit * unit)};
}

std::vector<GradientPair> Gradients(SurvivalRows const& rows, ObjectiveParams const& params, bool weighted,
                                    int threads) {
  std::size_t const n = rows.margins.size();
  std::vector<GradientPair> out(n);
  host::ComputeGradients(params, rows.Targets(weighted), RowMajor<float const>(rows.margins.data(), n, 1),
                         RowMajor(out.data(), n, 1), threads);
  return out;
}

/// Expects a number within [low, high] and, where the error of the double is known, as near as that error and two
/// roundings to float allow. Returns true if it is known to 10 bits.
bool ExpectNear(float found, Bounded expected, Exact low, Exact high, float weight, std::size_t row) {
  constexpr Exact kHalfUlp = 0x1p-24L;
  EXPECT_GE(found, (low < 0 ? -15.0f : 0.0f) * weight) << "row " << row;
  EXPECT_LE(found, 15.0f * weight) << "row " << row;
  if (!(expected.error < HUGE_VALL)) return false;
  Exact const least = std::clamp(expected.value - expected.error, low, high) * weight;
  Exact const most = std::clamp(expected.value + expected.error, low, high) * weight;
  Exact const room = 2.001L * kHalfUlp * std::max(std::fabs(least), std::fabs(most)) + 0x1p-150L * (1 + weight);
  EXPECT_GE(found, least - room) << "row " << row;
  EXPECT_LE(found, most + room) << "row " << row;
  return expected.error <= 0x1p-10L * std::max(std::fabs(expected.value), Exact{1e-16L});
}

TEST(AftTest, GradientsAreDerivatives) {
  for (AftDistribution const distribution : kAftDistributions) {
    for (float const scale : {0.5f, 1.0f, 1.7f}) {
      ObjectiveParams const params = AftParams(distribution, scale);
      SurvivalRows const rows{4999, 6};
      for (bool const weighted : {false, true}) {
        auto const found = Gradients(rows, params, weighted, 2);
        std::size_t known = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          Derivatives const expected = Reference(params, rows.margins[i], rows.lower[i], rows.upper[i]);
          float const weight = weighted ? rows.weights[i] : 1.0f;
          bool const grad = ExpectNear(found[i].grad, expected.grad, -15, 15, weight, i);
          bool const hess = ExpectNear(found[i].hess, expected.hess, 1e-16L, 15, weight, i);
          if (HasFailure()) FAIL() << "margin " << rows.margins[i] << " of " << rows.lower[i] << " " << rows.upper[i];
          known += grad && hess ? 1 : 0;
        }
        // Where digits cancel (1 - cdf far above 0, differences of nearly equal values) nothing is known.
        EXPECT_GT(known, found.size() / 2);
      }
    }
  }
}

/// For a known time, -log of the density is z²/2, -z + 2 log(1 + e^z) or e^z - z, up to a constant.
TEST(AftTest, KnownTimes) {
  for (float const scale : {0.5f, 2.0f}) {
    for (float const margin : {-2.0f, -0.5f, 0.0f, 0.25f, 2.0f}) {
      float const time = 1.5f;
      SurvivalRows rows{1, 1};
      rows.margins = {margin}, rows.lower = rows.upper = {time};
      double const z = (std::log(1.5) - margin) / scale, w = std::exp(z), square = scale * scale;
      double const grads[] = {-z / scale, -std::tanh(z / 2) / scale, (1 - w) / scale};
      double const hesses[] = {1 / square, 0.5 / std::pow(std::cosh(z / 2), 2) / square, w / square};
      for (int k = 0; k < 3; ++k) {
        GradientPair const g = Gradients(rows, AftParams(kAftDistributions[k], scale), false, 1)[0];
        // A float is off by half a unit. What doubles lose by cancellation (1 - w, at |z| > 0.1) is far below another.
        EXPECT_NEAR(g.grad, std::clamp(grads[k], -15.0, 15.0), 0x1p-23 * std::fabs(grads[k])) << k;
        EXPECT_NEAR(g.hess, std::clamp(hesses[k], 1e-16, 15.0), 0x1p-23 * hesses[k]) << k;
      }
    }
  }
}

/// Where nothing is left of the likelihood, gradients are what stock XGBoost takes.
TEST(AftTest, FarFromTheBounds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Case {
    float lower, upper, margin;
    float grad[3], hess[3];  // normal, logistic, extreme; scale 2
  };
  constexpr Case kCases[] = {{1, 1, -1e6f, {-15, -0.5f, -15}, {0.25f, 1e-16f, 15}},
                             {1, 1, 1e6f, {15, 0.5f, 0.5f}, {0.25f, 1e-16f, 1e-16f}},
                             {1, kInfinity, -1e6f, {-15, -0.5f, -15}, {0.25f, 1e-16f, 15}},
                             {1, kInfinity, 1e6f, {0, 0, 0}, {1e-16f, 1e-16f, 1e-16f}},
                             {0, 1, -1e6f, {0, 0, 0}, {1e-16f, 1e-16f, 1e-16f}},
                             {0, 1, 1e6f, {15, 0.5f, 0.5f}, {0.25f, 1e-16f, 1e-16f}},
                             {1, 2, -1e6f, {-15, -0.5f, -15}, {0.25f, 1e-16f, 15}},
                             {1, 2, 1e6f, {15, 0.5f, 0.5f}, {0.25f, 1e-16f, 1e-16f}},
                             {0, kInfinity, 3, {0, 0, 0}, {1e-16f, 1e-16f, 1e-16f}}};
  for (Case const& c : kCases) {
    SurvivalRows rows{1, 1};
    rows.margins = {c.margin}, rows.lower = {c.lower}, rows.upper = {c.upper};
    for (int k = 0; k < 3; ++k) {
      GradientPair const g = Gradients(rows, AftParams(kAftDistributions[k], 2), false, 1)[0];
      EXPECT_EQ(g.grad, c.grad[k]) << c.lower << " " << c.upper << " " << c.margin << " " << k;
      EXPECT_EQ(g.hess, c.hess[k]) << c.lower << " " << c.upper << " " << c.margin << " " << k;
    }
  }
}

TEST(AftTest, AnyMarginsGiveNumbersAndThreadsDoNotShow) {
  for (AftDistribution const distribution : kAftDistributions) {
    for (float const spread : {1.0f, 40.0f, 800.0f, 1e30f}) {
      ObjectiveParams const params = AftParams(distribution, 1);
      SurvivalRows const rows{20011, spread};
      auto const expected = Gradients(rows, params, true, 1);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_LE(std::fabs(expected[i].grad), 15 * rows.weights[i]);
        ASSERT_GE(expected[i].hess, 1e-16f * rows.weights[i]);
        ASSERT_LE(expected[i].hess, 15 * rows.weights[i]);
      }
      for (int const threads : {2, 3, 7}) {
        auto const found = Gradients(rows, params, true, threads);
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(found[0])), 0);
      }
    }
  }
}

TEST(AftTest, MetricsAreGivenMargins) {
  std::vector<float> const margins{-3, 0, 5};
  std::vector<float> out(3);
  host::Transform(AftParams(AftDistribution::kNormal, 1), RowMajor<float const>(margins.data(), 3, 1),
                  RowMajor(out.data(), 3, 1), 1);
  EXPECT_EQ(out, margins);
}

TEST(AftTest, NameAndTargets) {
  EXPECT_EQ(ObjectiveByName("survival:aft"), Objective::kAft);
  ObjectiveParams const params = AftParams(AftDistribution::kNormal, 1);
  SurvivalRows const rows{5, 1};
  TargetView targets = rows.Targets(true);
  CheckTargets(params, targets, 5, 1, 2);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(params, targets, 5, 2, 2); },
                                         {"Rows have 2 outputs (targets); survival:aft takes 1"}),
            "");
  std::vector<float> bounds{1, 2, INFINITY, 1, NAN};
  targets.upper = bounds.data();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(params, targets, 5, 1, 2); },
                                         {"label_upper_bound of row 4 is nan", "allowed: a number, or infinity"}),
            "");
  // A lower bound of 0, less or -inf is a row that ended before the upper bound. Stock allows 0 in both.
  std::vector<float> lower{1, -INFINITY, -2, 0, 3}, upper{1, 2, 0, 0, INFINITY};
  targets.lower = lower.data();
  targets.upper = upper.data();
  CheckTargets(params, targets, 5, 1, 2);
  struct {
    float lower, upper;
    char const* words;
  } const not_allowed[] = {{3, 2, "label_lower_bound of row 4 is 3, label_upper_bound 2; allowed: a lower bound"},
                           {-2, -1, "label_lower_bound of row 4 is -2, label_upper_bound -1; allowed: a lower bound"},
                           {INFINITY, INFINITY, "label_lower_bound of row 4 is inf, label_upper_bound inf; allowed"}};
  for (auto const& row : not_allowed) {
    lower[4] = row.lower;
    upper[4] = row.upper;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(params, targets, 5, 1, 2); }, {row.words}), "");
  }
  targets.upper = nullptr;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(params, targets, 5, 1, 2); },
                                         {"needs label_upper_bound, and 5 rows have none",
                                          "Size of label_upper_bound must equal to number of rows."}),
            "");
  targets.lower = nullptr;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(params, targets, 5, 1, 2); },
                                         {"needs label_lower_bound, and 5 rows have none"}),
            "");
  CheckTargets(params, targets, 0, 1, 2);
}

}  // namespace
}  // namespace xgbgpu::testing
