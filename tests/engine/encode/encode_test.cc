// encode: codes of keys, the shuffled order, ordered target statistics beside loops that nobody needs to think about.
#include "xgbgpu/encode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/encode_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

std::vector<RowIndex> RowsOf(RowOrder const& order) {
  std::vector<RowIndex> rows(order.rows);
  for (std::size_t place = 0; place < rows.size(); ++place) rows[place] = order.Row(place);
  return rows;
}

TEST(RowOrder, EveryRowHasOnePlace) {
  for (std::uint64_t const rows : {1, 2, 3, 5, 8, 9, 100, 1000, 1025, 65537}) {
    for (std::uint32_t const number : {0U, 1U, 7U}) {
      auto sorted = RowsOf(ShuffledOrder(rows, 3, number));
      std::sort(sorted.begin(), sorted.end());
      std::vector<RowIndex> all(rows);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(sorted, all) << rows << " rows, order " << number;
    }
  }
}

TEST(RowOrder, OfMostRowsIsOneToo) {
  RowOrder const order = ShuffledOrder(0xFFFFFFFE, 1, 0);  // 2^32 - 2 rows: too many for a list
  std::set<RowIndex> rows;
  for (std::uint64_t place = 0; place < 100000; ++place) rows.insert(order.Row(order.rows - 1 - place));
  EXPECT_EQ(rows.size(), 100000U);
  EXPECT_LT(*rows.rbegin(), 0xFFFFFFFEU);
}

TEST(RowOrder, DependsOnSeedAndNumber) {
  auto const rows = RowsOf(ShuffledOrder(1000, 1, 0));
  EXPECT_EQ(rows, RowsOf(ShuffledOrder(1000, 1, 0)));
  EXPECT_NE(rows, RowsOf(ShuffledOrder(1000, 2, 0)));
  EXPECT_NE(rows, RowsOf(ShuffledOrder(1000, std::uint64_t{1} << 40 | 1, 0)));
  EXPECT_NE(rows, RowsOf(ShuffledOrder(1000, 1, 1)));
}

/// The place of each row is uniform: over many seeds, the counts of (row, place) have the chi-square of a fair draw.
/// With 16 rows there are 15 · 15 degrees of freedom, so its mean is 225 and its deviation 21.2; the bound is six of
/// these away.
TEST(RowOrder, RowsAreAtEveryPlaceEquallyOften) {
  constexpr std::size_t kRows = 16, kOrders = 16000;
  std::vector<double> counts(kRows * kRows);
  for (std::uint64_t seed = 0; seed < kOrders; ++seed) {
    RowOrder const order = ShuffledOrder(kRows, seed, 0);
    for (std::size_t place = 0; place < kRows; ++place) ++counts[place * kRows + order.Row(place)];
  }
  double const expected = static_cast<double>(kOrders) / kRows;
  double chi_square = 0;
  for (double const count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 225 + 6 * 21.2);
  EXPECT_GT(chi_square, 225 - 6 * 21.2);
}

/// Neighbours in the data are no neighbours in the order: of rows i and i + 1 either comes first equally often. The
/// share of 10^5 pairs is within six deviations, 6 · sqrt(1/4 / 10^5), of a half.
TEST(RowOrder, OfTwoNeighboursEitherComesFirst) {
  constexpr std::size_t kRows = 100001;
  auto const rows = RowsOf(ShuffledOrder(kRows, 5, 0));
  std::vector<std::size_t> place(kRows);
  for (std::size_t p = 0; p < kRows; ++p) place[rows[p]] = p;
  std::size_t first = 0;
  for (std::size_t row = 0; row + 1 < kRows; ++row) first += place[row] < place[row + 1];
  EXPECT_NEAR(static_cast<double>(first) / (kRows - 1), 0.5, 6 * 0.00158);
}

TEST(NumberKeys, EqualsASortedSet) {
  constexpr std::uint64_t kTop = ~std::uint64_t{0};
  Random random{4};
  for (std::size_t const n : {1, 7, 1000, 50000}) {
    for (std::uint64_t const range : {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{100000}, kTop}) {
      std::vector<std::uint64_t> keys(n);
      for (auto& key : keys)
        key = (random.Below(1U << 31) * std::uint64_t{0x9E3779B97F4A7C15}) % range + (kTop - range);
      std::set<std::uint64_t> const sorted(keys.begin(), keys.end());
      std::map<std::uint64_t, std::uint32_t> number;
      for (auto const key : sorted) number.emplace(key, static_cast<std::uint32_t>(number.size()));
      for (int const threads : {1, 2, 3, 7}) {
        std::vector<std::uint32_t> codes(n);
        EXPECT_EQ(host::NumberKeys(keys, codes.data(), threads), number.size());
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(codes[i], number[keys[i]]) << n << " keys of " << range;
      }
    }
  }
}

TEST(NumberKeys, NoKeysAreNoCodes) { EXPECT_EQ(host::NumberKeys({}, nullptr, 2), 0U); }

TEST(FindKeys, GivesPlacesAndTheNumberOfKeysForOthers) {
  std::vector<std::uint64_t> const known{2, 5, ~std::uint64_t{0}}, keys{5, 0, 2, 3, ~std::uint64_t{0}, 6};
  std::vector<std::uint32_t> codes(keys.size());
  host::FindKeys(keys, known, codes.data(), 2);
  EXPECT_EQ(codes, (std::vector<std::uint32_t>{1, 3, 0, 3, 2, 3}));
}

TEST(OrderTargets, EqualsTheSlowOne) {
  for (EncodeCase const& c : EncodeCases()) {
    for (bool const is_given : {false, true}) {
      RowOrder const order = is_given ? GivenOrder(c.rows()) : ShuffledOrder(c.rows(), 9, 2);
      Encoded const expected = c.Slow(order);
      for (int const threads : {1, 2, 3, 7}) {
        Encoded const found = c.OnHost(order, threads);
        EXPECT_TRUE(found == expected) << c.name << ", " << threads << " threads";
      }
    }
  }
}

TEST(SumTargets, HasTheTotalsOfOrderTargets) {
  for (EncodeCase const& c : EncodeCases()) {
    Encoded const expected = c.Slow(GivenOrder(c.rows()));
    for (int const threads : {1, 2, 3, 7}) {
      Encoded found = c.Room();
      host::SumTargets(c.columns(), found.totals(), threads);
      EXPECT_EQ(found.total_values, expected.total_values) << c.name;
      EXPECT_EQ(found.total_weights, expected.total_weights) << c.name;
    }
  }
}

/// The statistics of the one target of a case, without the room between rows.
std::vector<float> FirstTarget(EncodeCase const& c, RowOrder const& order) {
  auto const found = c.OnHost(order, 2).statistics;
  std::vector<float> first;
  for (std::size_t row = 0; row < c.rows(); ++row) first.push_back(found[row * 2]);
  return first;
}

TEST(OrderTargets, ARowDoesNotSeeItsOwnTarget) {
  EncodeCase c = RandomEncodeCase("one row changes", 1000, 30, 1, true);
  RowOrder const order = ShuffledOrder(c.rows(), 1, 0);
  auto const before = FirstTarget(c, order);
  RowIndex const row = order.Row(500);
  c.values[row] += 12345;
  auto const after = FirstTarget(c, order);
  EXPECT_EQ(after[row], before[row]);
  EXPECT_NE(after, before);
  for (std::size_t place = 0; place <= 500; ++place) EXPECT_EQ(after[order.Row(place)], before[order.Row(place)]);
}

TEST(OrderTargets, AWeightOfTwoIsTheRowTwice) {
  EncodeCase const c{"weights", 2, 1, {0, 1, 0, 0}, {6, 5, 1, 0}, {4, 2, 2, 2}};  // in halves
  EncodeCase const twice{"twice", 2, 1, {0, 0, 1, 0, 0}, {3, 3, 5, 1, 0}, {}};
  auto const expected = FirstTarget(twice, GivenOrder(5));
  EXPECT_EQ(FirstTarget(c, GivenOrder(4)), (std::vector<float>{expected[0], expected[2], expected[3], expected[4]}));
}

std::string ErrorOf(EncodeCase const& c) {
  try {
    c.OnHost(GivenOrder(c.rows()), 2);
  } catch (InvalidArgument const& e) {
    return e.what();
  }
  return "";
}

TEST(OrderTargets, RefusesWhatIsOutOfRange) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;  // of two rows
  EXPECT_EQ(ErrorOf({"", 2, 1, {0, 2}, {1, 1}, {}}), "A code is 2; allowed: numbers below 2, the number of categories");
  EXPECT_EQ(ErrorOf({"", 2, 1, {0, 1}, {-kMost, kMost}, {}}), "");
  EXPECT_EQ(ErrorOf({"", 2, 1, {0, 1}, {1, kMost + 1}, {}}),
            "A target is 2305843009213693953 units; allowed for 2 rows: -2305843009213693952 to 2305843009213693952");
  EXPECT_EQ(ErrorOf({"", 2, 1, {0, 1}, {1, 1}, {1, -1}}),
            "A weight is -1 units; allowed for 2 rows: 0 to 2305843009213693952");
}

}  // namespace
}  // namespace xgbgpu::testing
