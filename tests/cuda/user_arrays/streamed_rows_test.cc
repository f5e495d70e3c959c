// Tables that come one after the other, pass after pass, give the cuts and the bins of the same rows in one array.
#include "xgbgpu/streamed_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cuda/device.h"
#include "matrix/lower_ends.h"
#include "matrix/matrix_cuda.h"
#include "matrix/paged_bins_cuda.h"
#include "matrix/paged_builder_cuda.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

using reference::Values;

/// How a table lies in memory.
enum class Form { kRows, kColumns, kMasked };

/// The rows of values on device 0, in tables that end before the rows `ends`.
class Tables final : public TableStream {
 public:
  Tables(Values const& values, Form form, std::vector<std::uint64_t> ends)
      : rows_{values.rows}, ends_{std::move(ends)} {
    std::size_t const rows = values.rows, features = values.features;
    std::vector<float> at = values.at;
    std::vector<std::uint8_t> bits((rows + 7) / 8 * features);
    if (form != Form::kRows) {
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t f = 0; f < features; ++f) at[f * rows + r] = values.at[r * features + f];
      }
    }
    if (form == Form::kMasked) {  // what is missing has a number
      for (std::size_t f = 0; f < features; ++f) {
        for (std::size_t r = 0; r < rows; ++r) {
          float& value = at[f * rows + r];
          if (std::isnan(value)) {
            value = 7;
          } else {
            bits[f * ((rows + 7) / 8) + r / 8] |= static_cast<std::uint8_t>(1U << (r % 8));
          }
        }
      }
    }
    values_ = Upload(&arena_, "values", at.data(), at.size());
    bits_ = Upload(&arena_, "bits", bits.data(), bits.size());
    whole_.rows = rows;
    for (std::size_t f = 0; f < features; ++f) {
      std::size_t const step = form == Form::kRows ? features : 1;
      float const* const first = values_.data() + (form == Form::kRows ? f : f * rows);
      whole_.columns.push_back({first, static_cast<std::int64_t>(step * sizeof(float)), NumberType::kFloat32,
                                form == Form::kMasked ? bits_.data() + f * ((rows + 7) / 8) : nullptr});
    }
  }

  void Restart() override {
    next_ = 0;
    ++passes_;
  }
  DeviceTable const* Next() override {
    if (next_ > ends_.size()) return nullptr;
    std::uint64_t const first = next_ == 0 ? 0 : ends_[next_ - 1];
    now_ = RowsOf(whole_, first, (next_ == ends_.size() ? rows_ : ends_[next_]) - first);
    ++next_;
    return &now_;
  }

  DeviceTable const& whole() const { return whole_; }
  DeviceBuffer<float>& values() { return values_; }
  std::vector<std::uint64_t>& ends() { return ends_; }
  int passes() const { return passes_; }
  StreamShape Shape() {
    StreamShape shape{0, static_cast<FeatureIndex>(whole_.columns.size()), {}};
    Restart();
    while (DeviceTable const* const table = Next()) shape.table_rows.push_back(table->rows);
    passes_ = 0;
    return shape;
  }

 private:
  std::uint64_t rows_;
  std::vector<std::uint64_t> ends_;
  DeviceArena arena_{"This test"};
  DeviceBuffer<float> values_;
  DeviceBuffer<std::uint8_t> bits_;
  DeviceTable whole_{};
  DeviceTable now_{};
  std::size_t next_{0};
  int passes_{0};
};

StreamPolicy WindowsOf(std::size_t bytes) {
  StreamPolicy policy;
  policy.window_bytes = bytes;
  return policy;
}

StreamedRows Streamed(Tables* tables, std::size_t window_bytes) {
  return {tables, tables->Shape(), std::nanf(""), {}, WindowsOf(window_bytes)};
}

/// Rows as numbers of values, then values with their features.
std::vector<std::uint32_t> ReadAll(RowSource const& source) {
  std::vector<std::uint32_t> read;
  std::uint64_t row = 0;
  source.ForEachBatch([&](RowBatch const& batch) {
    EXPECT_EQ(batch.first_row, row);
    for (std::uint64_t i = 0; i < batch.rows(); ++i, ++row) {
      for (Entry const& e : batch.row(i)) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &e.value, sizeof(bits));
        if (!std::isnan(e.value)) read.insert(read.end(), {static_cast<std::uint32_t>(row), e.feature, bits});
      }
    }
  });
  EXPECT_EQ(row, source.rows());
  return read;
}

/// The values that bins of a matrix stand for.
class LowerEnds final : public RowSource {
 public:
  explicit LowerEnds(DeviceMatrix const& matrix) : matrix_{matrix} {}
  std::uint64_t rows() const override { return matrix_.view.rows; }
  FeatureIndex features() const override { return matrix_.view.features; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    cuda::VisitLowerEnds(matrix_, 0, rows(), 2, visit);
  }

 private:
  DeviceMatrix const& matrix_;
};

class StreamedRowsTest : public ::testing::TestWithParam<Form> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

constexpr std::size_t kRow = 13 * sizeof(float);

TEST_P(StreamedRowsTest, HasTheRowsOfItsTables) {
  Values const values = RandomValues({2503, 13, 0.2}, 21);
  MemorySource const expected{values};
  for (std::vector<std::uint64_t> const& ends :
       {std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{1, 9, 1200, 2499}}) {
    Tables tables{values, GetParam(), ends};
    // A few rows, of which bitmaps begin inside a byte; those of a page; all.
    for (std::size_t const bytes : {3 * kRow, 37 * kRow, 2048 * kRow, 10000 * kRow}) {
      StreamedRows const rows = Streamed(&tables, bytes);
      EXPECT_FALSE(rows.dense());
      ASSERT_TRUE(rows.arrays());
      EXPECT_EQ(rows.arrays()->device, 0);
      EXPECT_EQ(ReadAll(rows), ReadAll(expected)) << bytes;
      EXPECT_EQ(tables.passes(), 1);
      std::uint64_t next = 0;
      rows.ForEachArray([&](ArrayBatch const& array) {
        EXPECT_EQ(array.first_row, next);
        next += array.rows;
      });
      EXPECT_EQ(next, 2503U);
    }
  }
}

TEST_P(StreamedRowsTest, CutsAndBinsAreThoseOfOneArray) {
  Values const values = RandomValues({50003, 13, 0.05}, 22);
  Tables tables{values, GetParam(), {1, 9, 2500, 30000, 49999}};
  auto const whole = CopyDeviceTable(tables.whole(), std::nanf(""));
  std::vector<float> weights(50003);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) * 0.25f;
  DeviceScope const scope{0};
  for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
    CutRequest const wanted{64, w};
    auto const expected = cuda::BuildMatrix(*whole, wanted, {0, 2});
    auto const bins = ReadAll(LowerEnds{*expected});
    for (std::size_t const memory : {std::size_t{0}, std::size_t{1}}) {  // columns at once, or counted keys
      StreamedRows const rows = Streamed(&tables, 4096 * kRow);
      auto const found = cuda::BuildMatrix(rows, wanted, {0, 2, memory});
      EXPECT_EQ(tables.passes(), (memory == 0 ? 1 : 4) + (w.empty() ? 0 : 1));  // one more for rows of weight 0
      EXPECT_EQ(found->cuts, expected->cuts);
      EXPECT_EQ(ReadAll(LowerEnds{*found}), bins) << memory;
    }
    StreamedRows const rows = Streamed(&tables, 4096 * kRow);
    cuda::DevicePagePolicy policy;
    policy.page_bytes = policy.least_page_bytes = 1;
    policy.other_bytes = std::size_t{1} << 40;
    MemoryLimits limits;
    limits.training_bytes = std::uint64_t{4} << 30;
    auto const paged = cuda::BuildMatrixWithin(rows, wanted, {0, 2}, limits, policy);
    ASSERT_NE(paged->pages, nullptr);
    EXPECT_EQ(paged->pages->pages().size(), (50003U + 2047) / 2048);  // windows are whole pages, whatever tables are
    EXPECT_EQ(paged->cuts, expected->cuts);
    EXPECT_EQ(ReadAll(LowerEnds{*paged}), bins);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, StreamedRowsTest, ::testing::Values(Form::kRows, Form::kColumns, Form::kMasked));

class StreamErrorTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  static void Read(RowSource const& rows) {
    rows.ForEachArray([](ArrayBatch const&) {});
  }
};

TEST_F(StreamErrorTest, OtherTablesInALaterPass) {
  Values const values = RandomValues({500, 3}, 23);
  std::string const same = "the same batches in every pass";
  auto const error_of = [&](std::vector<std::uint64_t> later, std::vector<std::string> parts) {
    Tables tables{values, Form::kRows, {100, 300}};
    StreamedRows const rows = Streamed(&tables, 100000);
    Read(rows);
    tables.ends() = std::move(later);
    parts.push_back(same);
    return WhatIsWrong<InvalidArgument>([&] { Read(rows); }, parts);
  };
  EXPECT_EQ(error_of({100, 301}, {"Batch 1 ", "201 rows and 3 columns in pass 3", "200 rows and 3 columns in pass 1"}),
            "");
  EXPECT_EQ(error_of({100, 300, 400}, {"Batch 2 ", "100 rows", "200 rows"}), "");
  EXPECT_EQ(error_of({100}, {"Batch 1 ", "400 rows", "200 rows"}), "");
  Tables tables{values, Form::kRows, {100, 300}};
  StreamShape shape = tables.Shape();
  shape.features = 4;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  Read(StreamedRows{&tables, shape, 0, {}, {}});
                },
                {"Batch 0 ", "3 columns in pass 2", "4 columns in pass 1", same}),
            "");
  shape = tables.Shape();
  shape.table_rows.push_back(5);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  Read(StreamedRows{&tables, shape, 0, {}, {}});
                },
                {"Pass 2 ", "ends after 3 batches", "pass 1 had 4", same}),
            "");
  shape.table_rows.resize(2);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  Read(StreamedRows{&tables, shape, 0, {}, {}});
                },
                {"Pass 2 ", "goes on after the 2 batches", same}),
            "");
}

TEST_F(StreamErrorTest, OtherValuesInALaterPass) {
  Values const values = RandomValues({9000, 3}, 24);
  for (bool const are_swapped : {false, true}) {
    Tables tables{values, Form::kRows, {100, 300}};
    StreamedRows const rows = Streamed(&tables, 4096 * 3 * sizeof(float));
    Read(rows);
    Read(rows);
    std::vector<float> some{values(5000, 0), values(5000, 1)};
    if (are_swapped) {
      std::swap(some[0], some[1]);
    } else {
      some[1] = std::nextafter(some[1], 100.0f);
    }
    CheckCuda(cudaMemcpy(tables.values().data() + 5000 * 3, some.data(), sizeof(float) * 2, cudaMemcpyHostToDevice),
              "changing values");
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Read(rows); }, {"Rows 4096 to 8191 ", "other values in pass 4"}), "");
  }
}

TEST_F(StreamErrorTest, InfiniteValues) {
  Values values = RandomValues({9000, 3}, 25);
  values(8999, 2) = -std::numeric_limits<float>::infinity();
  Tables tables{values, Form::kRows, {100, 300}};
  StreamedRows const rows = Streamed(&tables, 4096 * 3 * sizeof(float));
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Read(rows); }, {"`inf`", "rows 8192 to 8999", "finite"}), "");
}

TEST_F(StreamErrorTest, LargeTablesMustBeStreamedIfThereIsAnyRoom) {
  std::size_t const free = FreeDeviceMemory(0);
  StreamShape shape{0, 100, {free / 400 / 8, free / 400 / 16}};
  EXPECT_FALSE(MustStream(shape, {}));
  shape.table_rows.push_back(free / 400 / 8);
  EXPECT_TRUE(MustStream(shape, {}));
  StreamPolicy policy;
  EXPECT_NO_THROW(CheckRoomForStream(shape, policy));
  policy.least_free_bytes = 2 * free;
  EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>([&] { CheckRoomForStream(shape, policy); },
                                           {std::to_string(2 * free), "device 0", "smaller batches"}),
            "");
  policy.most_share = 0.5;
  EXPECT_FALSE(MustStream(shape, policy));
}

}  // namespace
}  // namespace xgbgpu::testing
