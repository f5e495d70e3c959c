// objective: adaptive leaves against medians made the slow way.
#include "objective/leaf_median.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/leaf_median_case.h"
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

/// Returns the first residual up to which the weights, summed in precision Sum, are half of all or more.
template <typename Sum>
float WeightedMedian(LeafRows const& c, std::vector<std::size_t> const& rows) {
  Sum all = 0, sum = 0;
  for (auto row : rows) all += c.weights[row];
  Sum const half = all / 2;
  for (auto row : rows) {
    sum += c.weights[row];
    if (sum >= half) return c.residuals[row];
  }
  ADD_FAILURE() << "half a sum that is not in it";
  return 0;
}

float Reference(LeafRows const& c, std::size_t node, bool weighted) {
  auto const rows = SortedRows(c, node, weighted);
  std::size_t const n = rows.size();
  if (n == 0) return c.OldValues()[node];
  if (weighted) return WeightedMedian<float>(c, rows);
  float const middle = c.residuals[rows[(n - 1) / 2]];
  if (n == 1) return middle;
  if (n % 2 == 1) return middle + 0.0f;  // never -0
  float const next = c.residuals[rows[n / 2]];
  return static_cast<float>(middle + 0.5 * (next - middle));
}

TEST(LeafMedian, EqualsTheSlowOne) {
  for (LeafRows const& c : LeafMedianCases()) {
    for (bool const weighted : {false, true}) {
      std::vector<float> expected(c.nodes);
      for (std::size_t n = 0; n < c.nodes && c.nodes < 1000; ++n) expected[n] = Reference(c, n, weighted);
      if (c.nodes >= 1000) {  // with many leaves, only some are compared
        expected = c.Medians(weighted, 1);
        for (std::size_t n = 0; n < 300; ++n) expected[n] = Reference(c, n, weighted);
      }
      for (int const threads : {1, 2, 5}) {
        auto const found = c.Medians(weighted, threads);
        for (std::size_t n = 0; n < c.nodes; ++n) {
          ASSERT_EQ(std::memcmp(&found[n], &expected[n], sizeof(float)), 0)
              << c.name << (weighted ? ", weighted" : "") << ", " << threads << " threads, node " << n << ": "
              << found[n] << ", expected " << expected[n];
        }
      }
    }
  }
}

TEST(LeafMedian, WeightsAreSummedInSinglePrecision) {
  // Stock sums in float. Exact sums would choose another row of a large leaf.
  LeafRows const c = RandomLeafRows("large", {400000, 1});
  auto const rows = SortedRows(c, 0, true);
  float const found = c.Medians(true, 2)[0];
  EXPECT_EQ(found, WeightedMedian<float>(c, rows));
  EXPECT_NE(found, WeightedMedian<double>(c, rows));
}

TEST(LeafMedian, WeightsThatAreAllTheSameKeepTheLowerMiddle) {
  LeafRows c{"equal weights", 1, {0, 0, 0, 0}, {4, 1, 3, 2}, {2, 2, 2, 2}};
  EXPECT_EQ(c.Medians(false, 1)[0], 2.5f);
  EXPECT_EQ(c.Medians(true, 1)[0], 2.0f);
}

TEST(LeafMedian, NoRowsChangeNothing) {
  LeafRows const c{"none", 3, {}, {}, {}};
  EXPECT_EQ(c.Medians(false, 2), c.OldValues());
  EXPECT_EQ(c.Medians(true, 2), c.OldValues());
}

TEST(LeafMedian, ResidualsAreLabelsWithoutMargins) {
  std::vector<float> const labels{1, 2, 3}, margins{0.5f, 9, 4, 9, -1, 9};
  std::vector<float> residuals(3);
  host::ComputeResiduals(labels.data(), margins.data(), 2, residuals, 2);
  EXPECT_EQ(residuals, (std::vector<float>{0.5f, -2, 4}));
}

TEST(LeafMedian, NotANumberIsNoLeaf) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  LeafRows const few{"few", 2, {1, 1, 1, 1, 1}, {kNaN, 1, 2, 3, 4}, {1, 1, 1, 1, 1}};
  EXPECT_EQ(few.Medians(false, 1)[1], 3);  // NaNs are the largest
  CheckMedians(few.Medians(false, 1));
  LeafRows const many{"many", 2, {1, 1, 1}, {kNaN, -kNaN, 2}, {1, 1, 1}};
  try {
    CheckMedians(many.Medians(true, 1));
    FAIL() << "a leaf is NaN";
  } catch (InvalidArgument const& e) {
    EXPECT_NE(std::string{e.what()}.find("leaf 1 is NaN; allowed: labels and base_margin that are finite"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace xgbgpu::testing
