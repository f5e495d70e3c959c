// predict: raw rows on their way to a device are what the rows hold.
#include "predict/raw_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/data.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::MemorySource;
using testing::WhatIsWrong;

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(RawRowsTest, RunsCoverTheRowsInOrderWithinTheirLimits) {
  MemorySource const source{testing::RandomValues({500, 8, 0.5}, 64), 130};
  for (auto const& [most_rows, most_values] : {std::pair{1000, 1000000}, std::pair{7, 1000000}, std::pair{1000, 25},
                                               std::pair{9, 20}, std::pair{1, 1}, std::pair{5, 1}}) {
    std::uint64_t next = 0, runs = 0;
    auto const rows_at_most = static_cast<std::uint64_t>(most_rows),
               values_at_most = static_cast<std::uint64_t>(most_values);
    ForEachRun(source, rows_at_most, values_at_most, [&](RowRun const& run) {
      EXPECT_EQ(run.first_row(), next);
      EXPECT_GE(run.n, 1U);
      EXPECT_LE(run.n, rows_at_most);
      EXPECT_TRUE(run.values() <= values_at_most || run.n == 1) << run.values();
      next += run.n;
      ++runs;
    });
    EXPECT_EQ(next, 500U);
    EXPECT_GE(runs, 4U);
  }
}

/// Reads rows as the contract of forest.h says.
reference::Values ValuesOf(MemorySource& source) {
  reference::Values values{source.data().size(), source.features()};
  for (std::size_t r = 0; r < values.rows; ++r) {
    for (Entry const& e : source.data()[r]) values(r, e.feature) = e.value;
  }
  return values;
}

MemorySource OddRows() {
  float const nan = reference::kMissing;
  return MemorySource{{{{0, 1}, {1, 2}, {2, 3}},
                       {{2, 3}, {0, kInf}},
                       {},
                       {{0, 4}, {1, nan}, {2, 5}},
                       {{1, 7}, {1, 8}, {0, nan}},
                       {{1, 7}, {0, 2}, {1, nan}}},
                      3};
}

TEST(RawRowsTest, DenseRowsAreTheValues) {
  MemorySource source = OddRows();
  auto const values = ValuesOf(source);
  for (int const threads : {1, 3}) {
    std::vector<float> out(values.at.size(), -1.0f);
    ForEachRun(source, 4, 1000,
               [&](RowRun const& run) { PackDenseRows(run, 3, out.data() + run.first_row() * 3, threads); });
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_TRUE(out[i] == values.at[i] || (std::isnan(out[i]) && std::isnan(values.at[i]))) << i << ": " << out[i];
    }
  }
}

TEST(RawRowsTest, SparseRowsAreSortedAndKeepTheOrderOfEqualFeatures) {
  MemorySource source = OddRows();
  auto const values = ValuesOf(source);
  std::vector<std::uint64_t> row_ptr(values.rows + 1);
  std::vector<Entry> entries(14);
  std::uint64_t before = 0;
  ForEachRun(source, 4, 1000, [&](RowRun const& run) {
    PackSparseRows(run, 3, before, row_ptr.data() + run.first_row(), entries.data() + before, 2);
    before += run.values();
  });
  EXPECT_EQ(before, 14U);
  EXPECT_EQ(row_ptr, (std::vector<std::uint64_t>{0, 3, 5, 5, 8, 11, 14}));
  for (std::size_t r = 0; r < values.rows; ++r) {
    std::vector<float> last(3, reference::kMissing);
    for (std::uint64_t i = row_ptr[r]; i < row_ptr[r + 1]; ++i) {
      if (i > row_ptr[r]) {
        EXPECT_LE(entries[i - 1].feature, entries[i].feature);
      }
      last[entries[i].feature] = entries[i].value;
    }
    for (std::size_t f = 0; f < 3; ++f) {
      EXPECT_TRUE(last[f] == values(r, f) || (std::isnan(last[f]) && std::isnan(values(r, f)))) << r << ", " << f;
    }
  }
}

TEST(RawRowsTest, FeaturesBeyondTheDataAreNamed) {
  MemorySource const source{{{{0, 1.0f}, {1, 1.0f}}, {{0, 1.0f}, {5, 1.0f}}}, 2};
  std::vector<float> out(4);
  std::vector<std::uint64_t> row_ptr(3);
  std::vector<Entry> entries(4);
  ForEachRun(source, 10, 10, [&](RowRun const& run) {
    std::vector<std::string> const parts{"Row 1", "feature 5", "0 to 1"};
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { PackDenseRows(run, 2, out.data(), 2); }, parts), "");
    EXPECT_EQ(
        WhatIsWrong<InvalidArgument>([&] { PackSparseRows(run, 2, 0, row_ptr.data(), entries.data(), 2); }, parts), "");
  });
}

TEST(RawRowsTest, DenseIsWhatTakesTwiceTheMemoryAtMost) {
  EXPECT_TRUE(RowsAreDense(100, 28, 2800));
  EXPECT_TRUE(RowsAreDense(100, 100, 2400));  // 40,000 bytes against 2 · 20,000
  EXPECT_FALSE(RowsAreDense(100, 100, 2399));
  EXPECT_TRUE(RowsAreDense(100, 4, 0));
  EXPECT_FALSE(RowsAreDense(100, 5, 0));
}

}  // namespace
}  // namespace xgbgpu
