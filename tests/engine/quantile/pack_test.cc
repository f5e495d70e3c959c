// quantile: parts of batches as a device reads them, for any order of entries and any number of threads.
#include "quantile/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/float_bits.h"
#include "quantile/quantile_ops.h"
#include "reference/matrix.h"
#include "support/data.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using reference::Values;
using testing::MemorySource;
using testing::WhatIsWrong;

constexpr FeatureIndex kFeatures = 9;
constexpr std::size_t kRows = 4000;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// All columns; one; some in the middle.
constexpr ColumnRange kRanges[] = {{0, kFeatures, kFeatures}, {4, 5, kFeatures}, {2, 7, kFeatures}};

/// Makes rows that are complete and in order, reversed, or with missing values, which are stored as NaN or not at all.
MemorySource MixedRows(Values const& values) {
  MemorySource source{values};
  for (std::size_t r = 0; r < values.rows; ++r) {
    auto& row = source.data()[r];
    if (r % 5 == 0) std::reverse(row.begin(), row.end());
    if (r % 7 == 0 && row.size() < kFeatures) {
      FeatureIndex missing = 0;
      while (!std::isnan(values(r, missing))) ++missing;
      row.push_back({missing, reference::kMissing});
    }
  }
  return source;
}

TEST(PackTest, RowsBecomeFloats) {
  for (double const missing : {0.0, 0.1}) {
    Values const values = testing::RandomValues({kRows, kFeatures, missing}, 91);
    MixedRows(values).ForEachBatch([&](RowBatch const& batch) {
      for (ColumnRange const& range : kRanges) {
        for (auto [begin, n] : {std::pair{0UL, kRows}, {1234UL, 1UL}, {17UL, 3000UL}}) {
          std::vector<float> out(n * range.size());
          PackRows(batch, begin, n, range, out.data(), 3);
          for (std::size_t r = 0; r < n; ++r) {
            for (FeatureIndex f = 0; f < range.size(); ++f) {
              float const expected = values(begin + r, range.first + f), found = out[r * range.size() + f];
              ASSERT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << r << " " << f;
            }
          }
        }
      }
    });
  }
}

TEST(PackTest, EntriesBecomePairs) {
  constexpr std::size_t kManyRows = 9000;  // more entries than a task takes
  Values const values = testing::RandomValues({kManyRows, kFeatures, 0.3}, 92);
  std::vector<float> weights(kManyRows);
  for (std::size_t r = 0; r < kManyRows; ++r) weights[r] = static_cast<float>(r % 3);
  MixedRows(values).ForEachBatch([&](RowBatch const& batch) {
    std::size_t const all = batch.entries.size();
    ASSERT_GT(all, 2 * (std::size_t{1} << 14));
    for (ColumnRange const& range : kRanges) {
      for (auto [begin, n] : {std::pair{std::size_t{0}, all}, {std::size_t{101}, std::size_t{1}}, {5, all - 100}}) {
        for (Span<float const> const of_rows : {Span<float const>{}, Span<float const>{weights}}) {
          std::vector<std::uint64_t> expected_keys;
          std::vector<float> expected_weights;
          for (std::size_t r = 0; r < kManyRows; ++r) {
            for (std::size_t i = batch.offsets[r]; i < batch.offsets[r + 1]; ++i) {
              Entry const e = batch.entries[i];
              if (i < begin || i >= begin + n || std::isnan(e.value) || !range.has(e.feature)) continue;
              bool const counts = of_rows.empty() || weights[r] != 0;
              expected_keys.push_back((std::uint64_t{e.feature - range.first} << 32) |
                                      (counts ? AscendingKey(e.value) : kNoKey));
              if (!of_rows.empty()) expected_weights.push_back(weights[r]);
            }
          }
          std::vector<std::uint64_t> keys(n);
          std::vector<float> found_weights(n);
          std::size_t const found = PackPairs(batch, begin, n, range, of_rows, keys.data(), found_weights.data(), 3);
          ASSERT_EQ(found, expected_keys.size());
          keys.resize(found);
          ASSERT_EQ(keys, expected_keys);
          found_weights.resize(expected_weights.size());
          ASSERT_EQ(found_weights, expected_weights);
        }
      }
    }
  });
}

TEST(PackTest, BadValuesAreNamed) {
  for (auto const& [entry, text] :
       {std::pair<Entry, char const*>{{3, kInfinity}, "inf"}, {{3, -kInfinity}, "-inf"}, {{kFeatures, 1}, "0 to 8"}}) {
    Values const values = testing::RandomValues({kRows, kFeatures}, 93);
    MemorySource source{values};
    source.data()[2017][3] = entry;
    std::vector<std::string> const parts{"row 2017", "feature " + std::to_string(entry.feature), text};
    source.ForEachBatch([&](RowBatch const& batch) {
      std::vector<float> out(kRows * kFeatures);
      EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { PackRows(batch, 0, kRows, kRanges[0], out.data(), 2); }, parts), "");
      std::vector<std::uint64_t> keys(out.size());
      EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                    [&] { PackPairs(batch, 0, keys.size(), kRanges[0], {}, keys.data(), nullptr, 2); }, parts),
                "");
    });
  }
}

TEST(PackTest, AFeatureTwiceInARowIsNamed) {
  Values const values = testing::RandomValues({kRows, kFeatures}, 94);
  MemorySource source{values};
  source.data()[77][3].feature = 5;
  source.ForEachBatch([&](RowBatch const& batch) {
    std::vector<float> out(kRows * kFeatures);
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { PackRows(batch, 0, kRows, kRanges[0], out.data(), 2); },
                                           {"Row 77", "feature 5", "more than once"}),
              "");
  });
}

}  // namespace
}  // namespace xgbgpu
