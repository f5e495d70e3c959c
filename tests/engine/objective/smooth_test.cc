// objective: losses whose scale all rows decide. tests/engine/objective/objective_test.cc compares their gradients with
// the definitions, sharded_rounds_test.cc shards.
#include "objective/smooth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "objective/smooth_ops.h"
#include "support/data.h"
#include "support/objective_case.h"

namespace xgbgpu::testing {
namespace {

constexpr Objective kKinds[] = {Objective::kSmoothAbsoluteError, Objective::kSmoothQuantile};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Rows {
  std::vector<float> margins, labels, weights;  ///< no weights: all 1

  TargetView Targets() const {
    TargetView view;
    view.labels = labels.data();
    if (!weights.empty()) view.weights = weights.data();
    return view;
  }
  float Scale(Objective kind, int threads = 2) const {
    return host::ScalesOfLoss(ParamsOf(kind), Targets(), RowMajor(margins.data(), margins.size(), 1), threads,
                              NoOtherShards())[0];
  }
  std::vector<GradientPair> Gradients(Objective kind) const {
    std::vector<GradientPair> out(margins.size());
    host::ComputeGradients(ParamsOf(kind), Targets(), RowMajor(margins.data(), out.size(), 1),
                           RowMajor(out.data(), out.size(), 1), 2);
    return out;
  }
};

Rows Random(std::size_t n, bool weighted, float unit = 1) {
  testing::Random random{n};
  Rows rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows.margins.push_back(unit * random.Between(-3, 3));
    rows.labels.push_back(unit * random.Between(-3, 3));
    if (weighted) rows.weights.push_back(random.Between(0, 4));
  }
  return rows;
}

/// A unit of the mean is 2^-59 of the largest term at most, which hardly shows beside the rounding of the result.
TEST(SmoothScaleTest, IsTheSquareOfTheMeanRoot) {
  for (float const unit : {1e-30f, 1e-3f, 1.0f, 1e30f}) {
    for (bool const weighted : {false, true}) {
      Rows rows = Random(70001, weighted, unit);
      // Beside this row the terms of the other rows lie in the lower halves of integers.
      if (unit == 1.0f) rows.margins[5] = 1e20f;
      long double roots = 0, weights = 0;
      for (std::size_t i = 0; i < rows.margins.size(); ++i) {
        float const w = weighted ? rows.weights[i] : 1.0f;
        float const term = w * std::sqrt(std::fabs(rows.margins[i] - rows.labels[i]));
        roots += term;
        weights += w;
      }
      auto const expected = static_cast<double>(roots / weights * (roots / weights));
      for (Objective const kind : kKinds) {
        EXPECT_NEAR(rows.Scale(kind), expected, expected * 0x1.001p-24) << unit << ' ' << weighted;
      }
    }
  }
}

TEST(SmoothScaleTest, OrderAndThreadsDoNotShow) {
  Rows rows = Random(50001, true);
  rows.margins[7] = 1e20f;  // sums of floats would forget most rows beside this one
  float const expected = rows.Scale(Objective::kSmoothAbsoluteError, 1);
  for (int const threads : {2, 3, 7}) EXPECT_EQ(rows.Scale(Objective::kSmoothAbsoluteError, threads), expected);
  for (auto* const values : {&rows.margins, &rows.labels, &rows.weights}) std::reverse(values->begin(), values->end());
  EXPECT_EQ(rows.Scale(Objective::kSmoothAbsoluteError), expected);
}

TEST(SmoothScaleTest, DuplicatedRowsAreAWeight) {
  Rows const once = Random(999, false);
  Rows twice = once, heavy = once;
  for (auto const& [from, to] : {std::pair{&once.margins, &twice.margins}, std::pair{&once.labels, &twice.labels}}) {
    to->insert(to->end(), from->begin(), from->end());
  }
  heavy.weights.assign(once.margins.size(), 2.0f);
  for (Objective const kind : kKinds) {
    EXPECT_EQ(twice.Scale(kind), once.Scale(kind));
    EXPECT_EQ(heavy.Scale(kind), once.Scale(kind));
  }
}

/// XGBoost 3.4.1 does the same.
TEST(SmoothScaleTest, RowsAtTheirLabelsAndWeightsOfNothing) {
  Rows rows{{1, 1, 1}, {1, 1, 1}, {}};
  EXPECT_EQ(rows.Scale(Objective::kSmoothQuantile), 0.0f);
  for (GradientPair const g : rows.Gradients(Objective::kSmoothQuantile)) {
    EXPECT_EQ(g.grad, 0.0f);
    EXPECT_EQ(g.hess, 0.0f);
  }
  for (GradientPair const g : rows.Gradients(Objective::kSmoothAbsoluteError)) {
    EXPECT_EQ(g.grad, 0.0f);
    EXPECT_EQ(g.hess, 1.0f);
  }
  rows.labels = {0, 3, 8};
  for (float const weight : {0.0f, 3e-7f}) {
    rows.weights.assign(3, weight);
    for (Objective const kind : kKinds) {
      EXPECT_EQ(rows.Scale(kind), 0.0f);
      for (GradientPair const g : rows.Gradients(kind)) {
        EXPECT_EQ(g.grad, 0.0f);
        EXPECT_EQ(g.hess, 0.0f);
      }
    }
  }
  rows.weights.assign(3, 1e-6f);
  EXPECT_GT(rows.Scale(Objective::kSmoothQuantile), 0.0f);
}

TEST(SmoothQuantileTest, HessiansHaveABound) {
  Rows rows{std::vector<float>(1001, 1e-3f), std::vector<float>(1001, 0.0f), {}};
  rows.margins[3] = 1000;
  auto const gradients = rows.Gradients(Objective::kSmoothQuantile);
  EXPECT_FLOAT_EQ(gradients[3].hess, 12.5f * 3e-4f);
  EXPECT_GT(gradients[4].hess, 0.1f);
}

/// Trees then name the row and its gradient.
TEST(SmoothScaleTest, ARowWithoutANumberHasNoGradientAndOthersDo) {
  for (float const bad : {kInfinity, -kInfinity, std::nanf("")}) {
    Rows rows{{0, bad, 2}, {1, 1, 1}, {}};
    for (Objective const kind : kKinds) {
      auto const gradients = rows.Gradients(kind);
      for (std::size_t i : {0, 2}) EXPECT_TRUE(std::isfinite(gradients[i].grad) && std::isfinite(gradients[i].hess));
      EXPECT_TRUE(std::isnan(gradients[1].grad)) << bad;
    }
    rows.weights = {1, 0, 1};
    EXPECT_EQ(rows.Scale(Objective::kSmoothQuantile), 1.0f);
  }
}

/// Most that XGBoost allows: the scale is a float as long as residuals are.
TEST(SmoothScaleTest, ExtremeNumbers) {
  float const largest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  for (float const margin : {largest, least}) {
    for (float const weight : {1e38f, 1.0f, 1e-5f}) {
      Rows const rows{{margin, margin, margin}, {0, 0, 0}, {weight, weight, weight}};
      EXPECT_NEAR(rows.Scale(Objective::kSmoothAbsoluteError) / margin, 1.0f, 1e-6f) << margin << ' ' << weight;
    }
  }
}

TEST(SmoothQuantileTest, PredictionsOfARowAscend) {
  float const nan = std::nanf("");
  std::vector<float> const margins{3, 1, 2, -1, 0, 0, 5, 4, 4, nan, 2, 1},
      sorted{1, 2, 3, -1, 0, 0, 4, 4, 5, nan, 1, 2};
  std::vector<float> out(margins.size());
  host::Transform(ParamsOf(Objective::kSmoothQuantile), RowMajor(margins.data(), 4, 3), RowMajor(out.data(), 4, 3), 1);
  EXPECT_EQ(std::memcmp(out.data(), sorted.data(), out.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace xgbgpu::testing
