// objective, metric: survival:cox and cox-nloglik against their definitions with more digits; closed forms; extremes;
// bad input.
#include "objective/cox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "support/cox_case.h"
#include "support/metric_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

using Exact = long double;

ObjectiveParams const kCox{Objective::kCox};
constexpr MetricParams kNloglik{Metric::kCoxNloglik};

/// Returns rows in order of time. Rows of equal times keep their order.
std::vector<std::size_t> ByTime(std::vector<float> const& labels) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::fabs(labels[a]) < std::fabs(labels[b]); });
  return order;
}

/// Returns, for each row, the sum of e^margin over the rows of its time and later.
std::vector<Exact> AtRisk(CoxRows const& rows) {
  std::vector<Exact> sums(rows.labels.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      if (std::fabs(rows.labels[j]) >= std::fabs(rows.labels[i])) sums[i] += std::exp(Exact{rows.margins[j]});
    }
  }
  return sums;
}

std::vector<GradientPair> Gradients(CoxRows const& rows, bool weighted, int threads, TimeOrder const& by_time = {}) {
  std::size_t const n = rows.margins.size();
  std::vector<GradientPair> out(n);
  TargetView targets = rows.Targets(weighted);
  targets.by_time = by_time;
  host::ComputeGradients(kCox, targets, RowMajor<float const>(rows.margins.data(), n, 1), RowMajor(out.data(), n, 1),
                         threads);
  return out;
}

TEST(CoxTest, GradientsAreThoseOfTheDefinition) {
  // A sum D of up to 3000 rows is a chain of less than 32 additions of numbers that are off by 2^-52. So D is off by
  // less than 2^-47, a sum of reciprocals by less than 2^-46, and its product with a power by less than 2^-45; with
  // squares it is twice that. Then come a difference, a product with the weight, and one rounding to float.
  constexpr Exact kSum = 0x1p-45L, kSquares = 0x1p-44L, kFloat = 1.001L * 0x1p-24L;
  for (std::size_t const n : {1, 2, 3, 10, 255, 257, 2048, 2049, 3000}) {
    for (std::size_t const times : {std::size_t{1}, std::size_t{7}, std::size_t{1000000}}) {
      CoxRows const rows{n, 8, times};
      auto const at_risk = AtRisk(rows);
      for (bool const weighted : {false, true}) {
        auto const found = Gradients(rows, weighted, 2);
        Exact inverse = 0, square = 0;
        for (std::size_t const row : ByTime(rows.labels)) {
          bool const event = rows.labels[row] > 0;
          if (event) inverse += 1 / at_risk[row];
          if (event) square += 1 / (at_risk[row] * at_risk[row]);
          Exact const power = std::exp(Exact{rows.margins[row]}), weight = weighted ? rows.weights[row] : 1.0f;
          Exact const expected = power * inverse, squares = power * power * square;
          Exact const grad = (expected - (event ? 1 : 0)) * weight, hess = (expected - squares) * weight;
          ASSERT_NEAR(found[row].grad, grad, kFloat * std::fabs(grad) + kSum * (expected + 1) * weight)
              << "row " << row << " of " << n << ", " << times << " times";
          ASSERT_NEAR(found[row].hess, hess, kFloat * std::fabs(hess) + (kSum * expected + kSquares * squares) * weight)
              << "row " << row << " of " << n << ", " << times << " times";
        }
      }
    }
  }
}

TEST(CoxTest, ByHand) {
  // Three rows have hazard 1: events at times 1 and 3, and a censored one at 2. D is 3, 2 and 1.
  CoxRows rows{3, 0, 1};
  rows.margins = {0, 0, 0};
  rows.labels = {3, 1, -2};
  auto const found = Gradients(rows, false, 1);
  EXPECT_EQ(found[1].grad, static_cast<float>(1.0 / 3 - 1));
  EXPECT_EQ(found[2].grad, static_cast<float>(1.0 / 3));
  EXPECT_EQ(found[0].grad, static_cast<float>(1.0 / 3 + 1 - 1));
  EXPECT_FLOAT_EQ(found[2].hess, 1.0f / 3 - 1.0f / 9);
}

TEST(CoxTest, GradientsWithoutTiesAddUpToNothing) {
  // Each event adds p / D to the rows at risk, 1 in all, and takes 1 away. A gradient is off by a rounding to float,
  // and by less than 2^-45 of the two numbers whose difference it is, as derived above.
  CoxRows rows{20000, 2, 1};
  for (std::size_t i = 0; i < 20000; ++i) rows.labels[i] = static_cast<float>(i + 1) * (i % 3 == 0 ? -1.0f : 1.0f);
  double sum = 0, room = 0;
  for (GradientPair const& g : Gradients(rows, false, 2)) {
    sum += g.grad;
    room += 0x1p-24 * std::fabs(g.grad) + 0x1p-45 * (2 + std::fabs(g.grad));
  }
  EXPECT_NEAR(sum, 0, room);
}

TEST(CoxTest, ThreadsAndGivenOrderDoNotShow) {
  for (std::size_t const n : {std::size_t{300}, std::size_t{70001}}) {
    CoxRows const rows{n, 3, 500};
    auto const expected = Gradients(rows, true, 1);
    auto const times = host::SortTimes(rows.labels.data(), n);
    for (int threads : {2, 3, 7}) {
      auto const found = Gradients(rows, true, threads);
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), n * sizeof(found[0])), 0);
    }
    auto const found = Gradients(rows, true, 2, times.view());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), n * sizeof(found[0])), 0);
  }
}

TEST(CoxTest, ConstantsInMarginsDoNotShow) {
  CoxRows rows{5000, 1, 300};
  for (std::size_t i = 0; i < 5000; ++i) rows.margins[i] = static_cast<float>(i % 64) / 16;
  auto const expected = Gradients(rows, true, 2);
  for (float const shift : {64.0f, -1024.0f, 65536.0f}) {  // no margin is rounded
    CoxRows shifted = rows;
    for (float& margin : shifted.margins) margin += shift;
    auto const found = Gradients(shifted, true, 2);
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(found[0])), 0) << shift;
  }
}

TEST(CoxTest, FiniteMarginsGiveFiniteGradients) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float const spread : {100.0f, 800.0f, 3e38f}) {
    CoxRows const rows{3000, spread, 40};
    for (GradientPair const& g : Gradients(rows, true, 2)) ASSERT_TRUE(std::isfinite(g.grad) && std::isfinite(g.hess));
  }
  CoxRows rows{3000, 3, 40};
  rows.margins[17] = -kInfinity;  // a hazard of 0
  for (GradientPair const& g : Gradients(rows, true, 2)) ASSERT_TRUE(std::isfinite(g.grad) && std::isfinite(g.hess));
  rows.labels[17] = 1e30f;
  rows.margins[17] = std::numeric_limits<float>::quiet_NaN();  // this row is at risk at every event
  rows.labels[18] = 1e-30f;
  EXPECT_TRUE(std::isnan(Gradients(rows, true, 2)[18].grad));
}

TEST(CoxTest, TransformIsTheHazard) {
  std::vector<float> const margins{-1, 0, 1};
  std::vector<float> out(3);
  host::Transform(kCox, RowMajor<float const>(margins.data(), 3, 1), RowMajor(out.data(), 3, 1), 1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(out[i], std::exp(margins[i]));
}

TEST(CoxTest, NameAndTargets) {
  EXPECT_EQ(ObjectiveByName("survival:cox"), Objective::kCox);
  CoxRows rows{5, 1, 10};
  TargetView targets = rows.Targets(true);
  CheckTargets(kCox, targets, 5, 1, 2);
  rows.labels[3] = -std::numeric_limits<float>::infinity();
  CheckTargets(kCox, targets, 5, 1, 2);
  rows.labels[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(kCox, targets, 5, 1, 2); },
                                         {"Label of row 3 is", "CoxRegression: label must be a number"}),
            "");
  CheckTargets(kCox, targets, 3, 1, 2);  // a row beyond these is not checked
  targets.label_columns = 2;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(kCox, targets, 2, 2, 2); },
                                         {"Rows have 2 outputs (targets); survival:cox takes 1"}),
            "");
  targets.labels = nullptr;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(kCox, targets, 5, 1, 2); },
                                         {"label set cannot be empty", "labels are not correctly provided"}),
            "");
}

MetricCase HazardCase(CoxRows const& rows) {
  MetricCase c{rows.labels.size(), 1, 1};
  c.labels = rows.labels;
  for (float const margin : rows.margins) c.predictions.push_back(std::exp(margin));
  return c;
}

TEST(CoxNloglikTest, IsTheMeanOverEvents) {
  for (std::size_t const n : {2, 3, 257, 2049, 3000}) {
    for (std::size_t const times : {std::size_t{1}, std::size_t{7}, std::size_t{1000000}}) {
      CoxRows rows{n, 8, times};
      rows.labels[0] = 1;
      MetricCase const c = HazardCase(rows);
      Exact sum = 0, events = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (!(c.labels[i] > 0)) continue;
        Exact at_risk = 0;
        for (std::size_t j = 0; j < n; ++j) {
          if (std::fabs(c.labels[j]) >= std::fabs(c.labels[i])) at_risk += c.predictions[j];
        }
        sum += std::log(at_risk) - std::log(Exact{c.predictions[i]});
        ++events;
      }
      // D is off by less than 2^-47 of itself. Its logarithm, below 25, is off by that and 2^-52 of itself, and sums by
      // 2^-48.
      EXPECT_NEAR(c.Evaluate(kNloglik, 1), static_cast<double>(sum / events), 0x1p-44 + 25 * 0x1p-47)
          << n << ", " << times;
      for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate(kNloglik, threads), c.Evaluate(kNloglik, 1));
    }
  }
}

TEST(CoxNloglikTest, ByHand) {
  MetricCase c{2, 1, 1};
  c.predictions = {1, 1};
  c.labels = {5, -7};
  EXPECT_NEAR(c.Evaluate(kNloglik, 1), std::log(2.0), 0x1p-52);
  c.labels = {5, -5};  // the second row is at risk until then
  EXPECT_NEAR(c.Evaluate(kNloglik, 1), std::log(2.0), 0x1p-52);
  c.labels = {5, -4};
  EXPECT_EQ(c.Evaluate(kNloglik, 1), 0.0);
  c.weights = {3, 4};
  EXPECT_EQ(c.Evaluate(kNloglik, 1), 0.0);
  c.labels = {-5, -4};
  EXPECT_TRUE(std::isnan(c.Evaluate(kNloglik, 1)));  // no event
  EXPECT_TRUE(std::isnan(MetricCase(0, 1, 1).Evaluate(kNloglik, 1)));
}

TEST(CoxNloglikTest, NameAndInput) {
  EXPECT_EQ(MetricByName("cox-nloglik")->kind, Metric::kCoxNloglik);
  EXPECT_STREQ(NameOf(Metric::kCoxNloglik), "cox-nloglik");
  EXPECT_FALSE(MetricByName("cox-nloglik@2").has_value());
  MetricCase c{3, 2, 2};
  c.predictions.assign(6, 1.0f);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(kNloglik, 1); }, {"cox-nloglik needs labels", "3 rows"}), "");
  c.labels.assign(6, 1.0f);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(kNloglik, 1); },
                                         {"cox-nloglik", "2 predictions a row; allowed: 1"}),
            "");
}

}  // namespace
}  // namespace xgbgpu::testing
