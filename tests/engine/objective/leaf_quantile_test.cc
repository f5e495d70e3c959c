// objective: adaptive leaves against quantiles made the slow way.
#include "objective/leaf_quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/leaf_quantile_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// Returns the rows of a leaf that count, in ascending order of their residuals.
std::vector<std::size_t> SortedRows(LeafRows const& c, std::size_t node, bool weighted) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < c.positions.size(); ++i)
    if (c.positions[i] == static_cast<NodeIndex>(node) && (!weighted || c.weights[i] > 0)) rows.push_back(i);
  std::stable_sort(rows.begin(), rows.end(), [&](auto a, auto b) { return c.residuals[a] < c.residuals[b]; });
  return rows;
}

/// Returns the first residual up to which the weights, summed in precision Sum, are the share alpha of all or more.
template <typename Sum>
float WeightedQuantile(LeafRows const& c, std::vector<std::size_t> const& rows, double alpha) {
  Sum all = 0, sum = 0;
  for (auto row : rows) all += c.weights[row];
  auto const share = static_cast<Sum>(all * alpha);
  for (auto row : rows) {
    sum += c.weights[row];
    if (!(sum < share)) return c.residuals[row];
  }
  ADD_FAILURE() << "a share of a sum that is not in it";
  return 0;
}

/// The k-th of n residuals, from 1, is the quantile k / (n + 1). Of several residuals a zero is 0.
float Reference(LeafRows const& c, std::size_t node, bool weighted, double alpha) {
  auto const rows = SortedRows(c, node, weighted);
  std::size_t const n = rows.size();
  if (n == 0) return c.OldValues()[node];
  if (weighted) return WeightedQuantile<float>(c, rows, alpha);
  double const place = alpha * static_cast<double>(n + 1);
  if (n == 1) return c.residuals[rows.front()];
  if (place <= 1) return c.residuals[rows.front()] + 0.0f;
  if (place >= static_cast<double>(n)) return c.residuals[rows.back()] + 0.0f;
  auto const k = static_cast<std::size_t>(place);
  float const low = c.residuals[rows[k - 1]], gap = c.residuals[rows[k]] - low;
  return static_cast<float>(low + (place - static_cast<double>(k)) * gap);
}

void ExpectEqualsTheSlowOne(LeafRows const& c, bool weighted, double alpha) {
  std::vector<float> expected = c.Quantiles(alpha, weighted, 1);
  // With many leaves, only some are compared.
  for (std::size_t n = 0; n < std::min<std::size_t>(c.nodes, 300); ++n) expected[n] = Reference(c, n, weighted, alpha);
  for (int const threads : {1, 2, 5}) {
    auto const found = c.Quantiles(alpha, weighted, threads);
    for (std::size_t n = 0; n < c.nodes; ++n) {
      ASSERT_EQ(std::memcmp(&found[n], &expected[n], sizeof(float)), 0)
          << c.name << (weighted ? ", weighted" : "") << ", quantile " << alpha << ", " << threads << " threads, node "
          << n << ": " << found[n] << ", expected " << expected[n];
    }
  }
}

TEST(LeafQuantile, EqualsTheSlowOne) {
  for (LeafRows const& c : LeafQuantileCases()) {
    for (float const alpha : kAlphas) {
      for (bool const weighted : {false, true}) ASSERT_NO_FATAL_FAILURE(ExpectEqualsTheSlowOne(c, weighted, alpha));
    }
  }
}

TEST(LeafQuantile, WeightsAreSummedInSinglePrecision) {
  // Stock sums in float. Exact sums would choose another row of a large leaf.
  LeafRows const c = RandomLeafRows("large", {400000, 1});
  auto const rows = SortedRows(c, 0, true);
  float const found = c.Medians(true, 2)[0];
  EXPECT_EQ(found, WeightedQuantile<float>(c, rows, 0.5));
  EXPECT_NE(found, WeightedQuantile<double>(c, rows, 0.5));
}

TEST(LeafQuantile, WeightsThatAreAllTheSameKeepTheLowerMiddle) {
  LeafRows c{"equal weights", 1, {0, 0, 0, 0}, {4, 1, 3, 2}, {2, 2, 2, 2}};
  EXPECT_EQ(c.Medians(false, 1)[0], 2.5f);
  EXPECT_EQ(c.Medians(true, 1)[0], 2.0f);
}

TEST(LeafQuantile, BetweenTwoResidualsIsInterpolated) {
  LeafRows c{"four", 1, {0, 0, 0, 0}, {40, 10, 30, 20}, {1, 1, 1, 1}};
  EXPECT_EQ(c.Quantiles(0.2, false, 1)[0], 10);
  EXPECT_EQ(c.Quantiles(0.25, false, 1)[0], 12.5f);
  EXPECT_EQ(c.Quantiles(0.7, false, 1)[0], 35);
  EXPECT_EQ(c.Quantiles(0.85, false, 1)[0], 40);
  EXPECT_EQ(c.Quantiles(0.25, true, 1)[0], 10);
  EXPECT_EQ(c.Quantiles(0.26, true, 1)[0], 20);
}

TEST(LeafQuantile, NoRowsChangeNothing) {
  LeafRows const c{"none", 3, {}, {}, {}};
  EXPECT_EQ(c.Medians(false, 2), c.OldValues());
  EXPECT_EQ(c.Medians(true, 2), c.OldValues());
}

TEST(LeafQuantile, ResidualsAreLabelsWithoutMargins) {
  std::vector<float> const labels{1, 2, 3}, margins{0.5f, 9, 4, 9, -1, 9};
  std::vector<float> residuals(3);
  host::ComputeResiduals(labels.data(), margins.data(), 2, residuals, 2);
  EXPECT_EQ(residuals, (std::vector<float>{0.5f, -2, 4}));
}

TEST(LeafQuantile, NotANumberIsNoLeaf) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  LeafRows const few{"few", 2, {1, 1, 1, 1, 1}, {kNaN, 1, 2, 3, 4}, {1, 1, 1, 1, 1}};
  EXPECT_EQ(few.Medians(false, 1)[1], 3);  // NaNs are the largest
  CheckQuantiles(few.Medians(false, 1));
  LeafRows const many{"many", 2, {1, 1, 1}, {kNaN, -kNaN, 2}, {1, 1, 1}};
  try {
    CheckQuantiles(many.Medians(true, 1));
    FAIL() << "a leaf is NaN";
  } catch (InvalidArgument const& e) {
    EXPECT_NE(std::string{e.what()}.find("leaf 1 is NaN; allowed: labels and base_margin that are finite"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace xgbgpu::testing
