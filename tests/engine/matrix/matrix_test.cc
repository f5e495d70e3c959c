// matrix: every value in its bin, in all four layouts.
#include "matrix/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "matrix/matrix_ops.h"
#include "quantile/quantile.h"
#include "reference/matrix.h"
#include "support/data.h"
#include "support/layouts.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {
namespace {

using reference::Values;
using testing::LayoutCase;
using testing::MemorySource;
using testing::WhatIsWrong;

/// Returns the feature-local bin of every value, read back through the views.
reference::Bins ReadBack(QuantisedMatrix const& m) {
  reference::Bins bins{m.rows, m.features(), std::vector<int>(m.rows * m.features(), reference::kNoBin)};
  for (RowIndex r = 0; r < m.rows; ++r) {
    m.Visit([&](auto const& view) {
      testing::ForEachCell(view, m, r, [&](FeatureIndex f, BinIndex cell) {
        BinIndex const local = cell - m.cell_ptr[f];
        if (local < m.cuts.bins(f)) bins.at[r * m.features() + f] = static_cast<int>(local);
      });
    });
  }
  return bins;
}

class MatrixTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(MatrixTest, EqualsTheReference) {
  auto const values = testing::RandomValues(GetParam().shape, 51);
  Cuts const cuts = reference::MakeCuts(values, {}, GetParam().max_bin);
  auto const expected = reference::MakeBins(values, cuts);
  for (int threads : {1, 2, 3, 7}) {
    for (std::size_t batch : {std::size_t{0}, std::size_t{7}, std::size_t{1000}}) {
      auto const m = host::QuantiseMatrix(MemorySource{values, batch}, cuts, threads);
      ASSERT_EQ(m->layout, GetParam().layout);
      ASSERT_EQ(ReadBack(*m).at, expected.at) << threads << " threads, batches of " << batch;
    }
  }
}

TEST_P(MatrixTest, EveryValueLiesBetweenTheEndsOfItsBin) {
  auto const values = testing::RandomValues(GetParam().shape, 52);
  auto const m =
      host::QuantiseMatrix(MemorySource{values}, host::ComputeCuts(MemorySource{values}, {}, GetParam().max_bin, 2), 2);
  auto const bins = ReadBack(*m);
  for (std::size_t r = 0; r < values.rows; ++r) {
    for (FeatureIndex f = 0; f < values.features; ++f) {
      ASSERT_EQ(bins(r, f) == reference::kNoBin, std::isnan(values(r, f)));
      if (bins(r, f) == reference::kNoBin) continue;
      auto const bin = m->cuts.ptr[f] + static_cast<BinIndex>(bins(r, f));
      ASSERT_LT(values(r, f), m->cuts.values[bin]);
      ASSERT_GE(values(r, f), bins(r, f) == 0 ? m->cuts.min_values[f] : m->cuts.values[bin - 1]);
    }
  }
}

TEST_P(MatrixTest, LowerEndsHaveTheBinsOfTheValues) {
  auto const values = testing::RandomValues(GetParam().shape, 53);
  auto const m =
      host::QuantiseMatrix(MemorySource{values}, host::ComputeCuts(MemorySource{values}, {}, GetParam().max_bin, 2), 2);
  for (int const threads : {1, 3}) {
    std::uint64_t const first = 3, count = m->rows - 5;
    std::uint64_t next = 0;
    Values ends{count, m->features()};
    host::VisitLowerEnds(*m, first, count, threads, [&](RowBatch const& batch) {
      ASSERT_EQ(batch.first_row, next);
      next += batch.rows();
      for (std::uint64_t r = 0; r < batch.rows(); ++r) {
        for (Entry const& e : batch.row(r)) ends(batch.first_row + r, e.feature) = e.value;
      }
    });
    ASSERT_EQ(next, count);
    auto const expected = ReadBack(*m), read = reference::MakeBins(ends, m->cuts);
    for (std::size_t r = 0; r < count; ++r) {
      for (FeatureIndex f = 0; f < m->features(); ++f) ASSERT_EQ(read(r, f), expected(first + r, f)) << r << ", " << f;
    }
  }
}

TEST_P(MatrixTest, CountsWhatItHolds) {
  auto const values = testing::RandomValues(GetParam().shape, 53);
  auto const m = testing::MakeMatrix(values, GetParam().max_bin);
  auto const present = std::count_if(values.at.begin(), values.at.end(), [](float v) { return !std::isnan(v); });
  EXPECT_EQ(m->stored, static_cast<std::uint64_t>(present));
  bool const dense = m->layout == MatrixLayout::kDense8 || m->layout == MatrixLayout::kDense16;
  std::size_t const width = m->layout == MatrixLayout::kDense8 ? 1 : (m->layout == MatrixLayout::kSparse32 ? 4 : 2);
  EXPECT_EQ(m->data.bytes(), width * (dense ? m->row_stride * m->rows : m->stored + SparseView<std::uint16_t>::kSpare));
  EXPECT_EQ(m->columns.bytes(), dense ? width * values.at.size() : 0);
  EXPECT_GE(m->bytes(), m->data.bytes() + m->columns.bytes() + m->row_ptr.bytes());
}

TEST_P(MatrixTest, SparseColumnsRepeatTheRows) {
  auto const values = testing::RandomValues(GetParam().shape, 57);
  auto const cuts = host::ComputeCuts(MemorySource{values}, {}, GetParam().max_bin, 2);
  for (int const threads : {1, 2, 3, 7}) {
    auto const m = host::QuantiseMatrix(MemorySource{values}, cuts, threads);
    SparseColumns const& columns = m->sparse_columns;
    if (m->layout == MatrixLayout::kDense8 || m->layout == MatrixLayout::kDense16) {
      EXPECT_EQ(columns.bytes(), 0U);
      continue;
    }
    EXPECT_EQ(columns.bytes(), SparseColumns::Bytes(m->features(), m->stored));
    auto const bins = ReadBack(*m);
    std::uint64_t at = 0;
    for (FeatureIndex f = 0; f < m->features(); ++f) {
      ASSERT_EQ(columns.ptr[f], at);
      for (std::uint64_t r = 0; r < m->rows; ++r) {
        if (bins(r, f) == reference::kNoBin) continue;
        ASSERT_EQ(columns.rows[at], r);
        ASSERT_EQ(columns.bins[at++], bins(r, f));
      }
    }
    ASSERT_EQ(columns.ptr[m->features()], at);
    ASSERT_EQ(at, m->stored);
  }
}

TEST_P(MatrixTest, DenseColumnsRepeatTheRows) {
  auto const m = testing::MakeMatrix(testing::RandomValues(GetParam().shape, 56), GetParam().max_bin);
  bool const dense = m->layout == MatrixLayout::kDense8 || m->layout == MatrixLayout::kDense16;
  EXPECT_EQ(m->columns.size() != 0, dense);
  bool same = true;
  auto const compare = [&](auto const& view) {
    for (FeatureIndex f = 0; f < m->features(); ++f) {
      for (RowIndex r = 0; r < m->rows; ++r) same = same && view.column(f)[r] == view.row(r)[f];
    }
  };
  m->Visit([&](auto const& view) {
    if constexpr (testing::kIsDense<std::decay_t<decltype(view)>>) compare(view);
  });
  EXPECT_TRUE(same);
}

TEST(MatrixLayoutTest, RowsArePaddedOnlyWhereItIsCheap) {
  // A row takes the next power of two up to 64 bytes, if at most a quarter of that is padding.
  for (auto [features, stride] :
       {std::pair{1U, 1U}, {3U, 4U}, {5U, 5U}, {6U, 8U}, {28U, 32U}, {33U, 33U}, {48U, 64U}, {65U, 65U}}) {
    EXPECT_EQ(testing::MakeMatrix(testing::RandomValues({20, features}, 57), 16)->row_stride, stride) << features;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, MatrixTest, ::testing::ValuesIn(testing::kLayoutCases), testing::LayoutName{});

TEST(MatrixLayoutTest, AFullByteIsUsed) {
  // Without missing values 256 bins have symbols 0 … 255. One missing value needs symbol 256, hence two bytes.
  Values values{600, 1};
  for (std::size_t r = 0; r < 600; ++r) values(r, 0) = static_cast<float>(r % 256);
  auto const full = testing::MakeMatrix(values, 256);
  EXPECT_EQ(full->cuts.bins(), 256U);
  EXPECT_EQ(full->layout, MatrixLayout::kDense8);
  EXPECT_EQ(ReadBack(*full).at, reference::MakeBins(values, full->cuts).at);
  values(599, 0) = reference::kMissing;
  auto const with_missing = testing::MakeMatrix(values, 256);
  EXPECT_EQ(with_missing->cuts.bins(), 256U);
  EXPECT_EQ(with_missing->layout, MatrixLayout::kDense16);
  EXPECT_EQ(ReadBack(*with_missing).at, reference::MakeBins(values, with_missing->cuts).at);
}

TEST(MatrixLayoutTest, MostBinsAndMissing) {
  Values values{70000, 2};
  for (std::size_t r = 0; r < values.rows; ++r) {
    values(r, 0) = static_cast<float>(r);
    if (r % 3 != 0) values(r, 1) = static_cast<float>(r);
  }
  values(5, 0) = reference::kMissing;
  auto const m = testing::MakeMatrix(values, 65535);
  EXPECT_EQ(m->layout, MatrixLayout::kDense16);
  EXPECT_EQ(ReadBack(*m).at, reference::MakeBins(values, m->cuts).at);
}

TEST(MatrixInputTest, EntriesOfARowMayComeInAnyOrder) {
  for (double missing : {0.1, 0.9}) {
    auto const values = testing::RandomValues({300, 6, missing}, 54);
    Cuts const cuts = reference::MakeCuts(values, {}, 16);
    MemorySource source{values, 11};
    for (auto& row : source.data()) std::reverse(row.begin(), row.end());
    EXPECT_EQ(ReadBack(*host::QuantiseMatrix(source, cuts, 2)).at, reference::MakeBins(values, cuts).at);
  }
}

TEST(MatrixInputTest, StoredNaNIsMissing) {
  for (double missing : {0.3, 0.9}) {
    auto const values = testing::RandomValues({300, 6, missing}, 55);
    std::vector<std::vector<Entry>> rows(values.rows);
    for (std::size_t r = 0; r < values.rows; ++r) {
      for (FeatureIndex f = 0; f < values.features; ++f) rows[r].push_back({f, values(r, f)});
    }
    MemorySource const source{rows, static_cast<FeatureIndex>(values.features)};
    Cuts const cuts = host::ComputeCuts(source, {}, 16, 2);
    EXPECT_EQ(cuts, reference::MakeCuts(values, {}, 16));
    EXPECT_EQ(ReadBack(*host::QuantiseMatrix(source, cuts, 2)).at, reference::MakeBins(values, cuts).at);
  }
}

TEST(MatrixInputTest, AFeatureTwiceInARowIsAnError) {
  std::vector<std::vector<Entry>> rows{{{0, 1.0f}, {1, 2.0f}}, {{1, 1.0f}, {0, 2.0f}, {1, 3.0f}}};
  MemorySource const source{rows, 2};
  Cuts const cuts = host::ComputeCuts(source, {}, 16, 1);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { host::QuantiseMatrix(source, cuts, 2); },
                                         {"Row 1", "feature 1", "more than once"}),
            "");
}

TEST(MatrixInputTest, AStoredNaNBesideAValueIsNoSecondValue) {
  std::vector<std::vector<Entry>> rows{{{1, reference::kMissing}, {0, 1.0f}, {1, 2.0f}}};
  MemorySource const source{rows, 2};
  auto const m = host::QuantiseMatrix(source, host::ComputeCuts(source, {}, 16, 1), 1);
  EXPECT_EQ(m->stored, 2U);
}

TEST(MatrixInputTest, WithoutRowsEveryFeatureHasOneBin) {
  MemorySource const no_rows{std::vector<std::vector<Entry>>{}, 3};
  auto const data = Dataset::Build(no_rows, {}, 256, 1);
  EXPECT_EQ(data->rows(), 0U);
  EXPECT_EQ(data->stored(), 0U);
  EXPECT_EQ(data->cuts().ptr, (std::vector<BinIndex>{0, 1, 2, 3}));
}

TEST(MatrixInputTest, NoFeaturesAreAnError) {
  MemorySource const no_features{std::vector<std::vector<Entry>>(2), 0};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Dataset::Build(no_features, {}, 256, 1); }, {"0 features", "1 or more"}),
            "");
}

TEST(LocalBinTest, CountsTheEndsBelow) {
  std::vector<float> ends;
  for (BinIndex n = 1; n < 40; ++n) {
    ends.push_back(static_cast<float>(n) * 2);
    for (float v = -1; v < static_cast<float>(2 * n + 4); v += 0.5f) {
      auto const below = std::count_if(ends.begin(), ends.end() - 1, [&](float end) { return end <= v; });
      ASSERT_EQ(LocalBin(ends.data(), n, v), static_cast<BinIndex>(below)) << n << " " << v;
    }
  }
}

}  // namespace
}  // namespace xgbgpu
