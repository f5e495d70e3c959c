// metric: auc and aucpr against their definitions: pairs of rows, and the area below the interpolated curve.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/data.h"
#include "support/metric_case.h"
#include "xgbgpu/error.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::testing {
namespace {

constexpr MetricParams kAuc{Metric::kAuc};
constexpr MetricParams kAucpr{Metric::kAucpr};

/// Makes rows with `levels` distinct predictions, and labels that depend on them.
MetricCase RandomRows(std::uint64_t rows, std::size_t levels, bool weighted, std::uint64_t seed) {
  Random random{seed};
  MetricCase c{rows, 1, 1};
  for (std::uint64_t i = 0; i < rows; ++i) {
    auto const level = static_cast<float>(random.Below(levels)) / static_cast<float>(levels);
    c.predictions.push_back(level * 2 - 1);
    c.labels.push_back(random.Uniform() < 0.2f + 0.6f * level ? 1.0f : 0.0f);
    if (weighted) c.weights.push_back(random.Between(0.5f, 4.5f));
  }
  return c;
}

long double WeightOf(MetricCase const& c, std::size_t row) { return c.weights.empty() ? 1.0f : c.weights[row]; }

/// Returns the share of pairs of a positive and a negative row that are in order. Equal predictions are half in order.
double PairsInOrder(MetricCase const& c, std::vector<char> const& positive, std::uint32_t output) {
  long double in_order = 0, all = 0;
  for (std::uint64_t i = 0; i < c.rows; ++i) {
    if (!positive[i]) continue;
    float const p = c.predictions[i * c.outputs + output];
    for (std::uint64_t j = 0; j < c.rows; ++j) {
      if (positive[j]) continue;
      float const q = c.predictions[j * c.outputs + output];
      long double const weight = WeightOf(c, i) * WeightOf(c, j);
      in_order += p > q ? weight : p == q ? weight / 2 : 0;
      all += weight;
    }
  }
  return static_cast<double>(in_order / all);
}

/// Returns the area below precision over recall, by Gauss' rule of two points on kParts parts of each step. Within a
/// step false positives grow in proportion to true ones.
double AreaBelowPrecision(MetricCase const& c, std::vector<char> const& positive, std::uint32_t output) {
  constexpr int kParts = 1024;
  std::vector<std::size_t> order(c.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const prediction = [&](std::size_t row) { return c.predictions[row * c.outputs + output]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return prediction(a) > prediction(b); });
  long double tp = 0, fp = 0, area = 0;
  for (std::size_t i = 0; i < c.rows;) {
    long double const tp_from = tp, fp_from = fp;
    for (float const here = prediction(order[i]); i < c.rows && prediction(order[i]) == here; ++i) {
      (positive[order[i]] ? tp : fp) += WeightOf(c, order[i]);
    }
    for (int k = 0; k < kParts; ++k) {
      for (long double const at : {0.21132486540518711775L, 0.78867513459481288225L}) {
        long double const share = (k + at) / kParts;
        long double const t = tp_from + share * (tp - tp_from), f = fp_from + share * (fp - fp_from);
        if (tp != tp_from) area += (tp - tp_from) / (2 * kParts) * t / (t + f);
      }
    }
  }
  return static_cast<double>(area / tp);
}

std::vector<char> Positives(MetricCase const& c) { return {c.labels.begin(), c.labels.end()}; }

/// Weights of 0.5 to 4.5 become multiples of at most 8 / 2^45 (up to 2^17 rows), so each is off by a relative 2^-42. An
/// area is a quotient of sums of products of two, so it is off by 4 · 2^-42. The sums of doubles are off by less
/// (metric_sum.h).
constexpr double kWeighted = 0x1p-40;

TEST(AucTest, IsTheShareOfPairsInOrder) {
  for (std::uint64_t const rows : {2, 3, 10, 257, 3000}) {
    for (std::size_t const levels : {1, 2, 7, 100000}) {
      MetricCase c = RandomRows(rows, levels, false, rows + levels);
      c.labels[0] = 0;
      c.labels[1] = 1;
      // Counts are exact. A product, a quotient and the reference are rounded.
      EXPECT_NEAR(c.Evaluate(kAuc, 1), PairsInOrder(c, Positives(c), 0), 3 * 0x1p-53) << rows << ", " << levels;
      c.weights = RandomRows(rows, levels, true, rows).weights;
      EXPECT_NEAR(c.Evaluate(kAuc, 1), PairsInOrder(c, Positives(c), 0), kWeighted) << rows << ", " << levels;
    }
  }
}

TEST(AucTest, SeparatedAndReversed) {
  MetricCase c{1000, 1, 1};
  for (int i = 0; i < 1000; ++i) {
    c.predictions.push_back(static_cast<float>(i));
    c.labels.push_back(i < 400 ? 0.0f : 1.0f);
  }
  EXPECT_EQ(c.Evaluate(kAuc, 1), 1.0);
  EXPECT_EQ(c.Evaluate(kAucpr, 1), 1.0);
  for (float& p : c.predictions) p = -p;
  EXPECT_EQ(c.Evaluate(kAuc, 1), 0.0);
  for (float& p : c.predictions) p = 0.25f;
  EXPECT_EQ(c.Evaluate(kAuc, 1), 0.5);
  EXPECT_NEAR(c.Evaluate(kAucpr, 1), 0.6, 0x1p-52);  // 1 / (1 + 400 / 600), three roundings
  for (std::size_t i = 0; i < 1000; i += 2) c.predictions[i] = -0.0f;
  for (std::size_t i = 1; i < 1000; i += 2) c.predictions[i] = 0.0f;
  EXPECT_EQ(c.Evaluate(kAuc, 1), 0.5);  // 0 and -0 are equal
}

TEST(AucTest, NaNsAreEqualAndFirst) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  MetricCase c{4, 1, 1};
  c.predictions = {kNaN, -kNaN, 7, std::numeric_limits<float>::infinity()};
  c.labels = {1, 0, 1, 0};
  EXPECT_EQ(c.Evaluate(kAuc, 1), (0.5 + 1 + 0 + 0) / 4);
}

TEST(AucTest, LabelsBetweenClasses) {
  // A label of 1/4 is a quarter of a positive and three quarters of a negative row, at the same prediction.
  MetricCase halves{3, 1, 1};
  halves.predictions = {3, 2, 1};
  halves.labels = {1, 0.25f, 0};
  MetricCase rows{4, 1, 1};
  rows.predictions = {3, 2, 2, 1};
  rows.labels = {1, 1, 0, 0};
  rows.weights = {1, 0.25f, 0.75f, 1};
  EXPECT_EQ(halves.Evaluate(kAuc, 1), rows.Evaluate(kAuc, 1));
  EXPECT_EQ(halves.Evaluate(kAucpr, 1), rows.Evaluate(kAucpr, 1));
}

TEST(AucprTest, StepsByHand) {
  MetricCase c{3, 1, 1};
  c.predictions = {3, 2, 1};
  c.labels = {1, 0, 1};
  // Precision is 1 up to a recall of 1/2. Then comes ∫ 2r / (2r + 1) dr from 1/2 to 1. A few numbers below 2 are
  // rounded.
  EXPECT_NEAR(c.Evaluate(kAucpr, 1), 0.5 + 0.5 - 0.5 * std::log(1.5), 0x1p-50);
  c.labels = {0, 1, 1};
  // The area is ∫ 2r / (2r + 1) dr from 0 to 1, in two steps.
  EXPECT_NEAR(c.Evaluate(kAucpr, 1), 1 - 0.5 * std::log(3.0), 0x1p-50);
}

TEST(AucprTest, IsTheAreaBelowPrecision) {
  // In a step that begins with weight x > 0 and adds dx, precision is A + B / (x + s dx), 0 <= s <= 1, |B| <= x. In the
  // first step it is constant. Gauss' rule is off by ∫ |4th derivative| / (4320 · parts^4) <= 6 (dx / x)³ / (4320
  // · 2^40) of the step's recall. dx / x is at most 9 rows of 4.5 over one of 0.5: with more rows and few levels, no
  // level has so little weight. The recalls of all steps sum to 1.
  constexpr double kAllowed = 6.0 * 81 * 81 * 81 / 4320 * 0x1p-40;
  for (std::uint64_t const rows : {2, 10, 257, 3000}) {
    for (std::size_t const levels : {2, 7, 100000}) {
      for (bool const weighted : {false, true}) {
        MetricCase c = RandomRows(rows, levels, weighted, rows + levels);
        c.labels[0] = 0;
        c.labels[1] = 1;
        EXPECT_NEAR(c.Evaluate(kAucpr, 1), AreaBelowPrecision(c, Positives(c), 0), kAllowed)
            << rows << ", " << levels << ", " << weighted;
      }
    }
  }
}

class AreaTest : public ::testing::TestWithParam<Metric> {
 protected:
  MetricParams params{GetParam()};
};

TEST_P(AreaTest, OrderThreadsAndLayoutDoNotShow) {
  for (std::size_t const levels : {5, 1000, 10000000}) {
    MetricCase c = RandomRows(20000, levels, true, levels);
    double const expected = c.Evaluate(params, 1);
    for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate(params, threads), expected);
    Random random{levels};
    for (std::size_t i = c.rows; i > 1; --i) {
      std::size_t const j = random.Below(i);
      std::swap(c.predictions[i - 1], c.predictions[j]);
      std::swap(c.labels[i - 1], c.labels[j]);
      std::swap(c.weights[i - 1], c.weights[j]);
    }
    EXPECT_EQ(c.Evaluate(params, 2), expected);
  }
}

TEST_P(AreaTest, WeightsAreNumbersOfRows) {
  MetricCase once = RandomRows(500, 50, false, 9);
  MetricCase several{0, 1, 1};
  for (std::size_t i = 0; i < 500; ++i) {
    std::size_t const times = i % 4;
    once.weights.push_back(static_cast<float>(times));
    several.rows += times;
    several.labels.insert(several.labels.end(), times, once.labels[i]);
    several.predictions.insert(several.predictions.end(), times, once.predictions[i]);
  }
  // Sums of whole numbers are exact. Areas are sums of at most 50 numbers below 1, in another order: off by 2^-47.
  EXPECT_NEAR(once.Evaluate(params, 1), several.Evaluate(params, 1), 0x1p-47);
}

TEST_P(AreaTest, SizeOfWeightsDoesNotMatter) {
  MetricCase c = RandomRows(3000, 400, true, 12);
  double const expected = c.Evaluate(params, 1);
  for (float const factor : {0x1p-120f, 0x1p100f}) {
    MetricCase scaled = c;
    for (float& w : scaled.weights) w *= factor;
    EXPECT_EQ(scaled.Evaluate(params, 1), expected);
  }
}

TEST_P(AreaTest, ClassesAgainstTheRest) {
  constexpr std::uint32_t kClasses = 4;
  for (bool const weighted : {false, true}) {
    Random random{77};
    MetricCase c{900, 1, kClasses};
    for (std::uint64_t i = 0; i < c.rows; ++i) {
      std::size_t const label = random.Below(kClasses);
      c.labels.push_back(static_cast<float>(label));
      for (std::uint32_t k = 0; k < kClasses; ++k) {
        c.predictions.push_back(static_cast<float>(random.Below(300)) / 300 + (k == label ? 0.2f : 0.0f));
      }
      if (weighted) c.weights.push_back(random.Between(0.5f, 4.5f));
    }
    double sum = 0, weights = 0;
    for (std::uint32_t k = 0; k < kClasses; ++k) {
      MetricCase one = c;
      one.outputs = 1;
      one.predictions.clear();
      double positives = 0;
      for (std::uint64_t i = 0; i < c.rows; ++i) {
        one.predictions.push_back(c.predictions[i * kClasses + k]);
        one.labels[i] = c.labels[i] == static_cast<float>(k) ? 1.0f : 0.0f;
        positives += one.labels[i] * static_cast<double>(WeightOf(c, i));
      }
      double const weight = GetParam() == Metric::kAuc ? positives : 1.0;
      sum += one.Evaluate(params, 1) * weight;
      weights += weight;
    }
    // Each class has the same curve. Its weight is a sum of rounded weights.
    EXPECT_NEAR(c.Evaluate(params, 1), sum / weights, kWeighted);
    for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate(params, threads), c.Evaluate(params, 1));
    EXPECT_EQ(c.ByOutput().Evaluate(params, 2), c.Evaluate(params, 1));
    for (float& label : c.labels) {
      if (label == 2) label = 1;
    }
    EXPECT_TRUE(std::isnan(c.Evaluate(params, 1)));  // a class has no rows
  }
}

TEST_P(AreaTest, NoAreaWithoutBothClasses) {
  EXPECT_TRUE(std::isnan(MetricCase(0, 1, 1).Evaluate(params, 1)));
  MetricCase c = RandomRows(10, 3, false, 1);
  for (float const label : {0.0f, 1.0f}) {
    std::fill(c.labels.begin(), c.labels.end(), label);
    EXPECT_TRUE(std::isnan(c.Evaluate(params, 1)));
  }
  c.labels[3] = 0;
  EXPECT_FALSE(std::isnan(c.Evaluate(params, 1)));
  c.weights.assign(10, 0.0f);
  EXPECT_TRUE(std::isnan(c.Evaluate(params, 1)));
  c.weights.assign(10, 1.0f);
  c.weights[5] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(c.Evaluate(params, 1)));
  c.weights[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(c.Evaluate(params, 1)));
}

TEST_P(AreaTest, BadInput) {
  std::string const name = NameOf(GetParam());
  MetricCase c{3, 1, 1};
  c.predictions = {3, 2, 1};
  c.labels = {2, 0, 0};  // two positives, minus one negative, two negatives
  if (GetParam() == Metric::kAuc) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(params, 1); }, {name, "labels 0 to 1"}), "");
  } else {
    c.labels = {2, 1, 0};
    c.weights = {1, 1, 3};
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(params, 1); }, {name, "labels 0 to 1"}), "");
  }
  c.label_columns = 3;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(params, 1); }, {name, "3 labels", "allowed: 1"}), "");
  c.labels.clear();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(params, 1); }, {name, "labels", "3 rows"}), "");
}

INSTANTIATE_TEST_SUITE_P(Metrics, AreaTest, ::testing::Values(Metric::kAuc, Metric::kAucpr),
                         [](auto const& c) { return std::string{NameOf(c.param)}; });

}  // namespace
}  // namespace xgbgpu::testing
