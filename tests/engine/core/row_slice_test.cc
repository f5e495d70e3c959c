// A slice of a source has the rows of the source, as entries and as an array, and no others. Threads that read one
// source take turns.
#include "core/row_slice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/reading_turns.h"
#include "metric/metric_sum.h"
#include "support/data.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/device_rows.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::MemorySource;
using testing::WhatIsWrong;

static_assert(kRowStep % kSumBlock == 0, "a block of a metric's sum must not lie on two devices");

/// Returns the rows that batches have, and checks that they follow one another and that none is empty.
std::vector<std::vector<Entry>> ReadRows(RowSource const& source) {
  std::vector<std::vector<Entry>> rows;
  source.ForEachBatch([&](RowBatch const& batch) {
    EXPECT_EQ(batch.first_row, rows.size());
    EXPECT_GT(batch.rows(), 0U);
    for (std::uint64_t i = 0; i < batch.rows(); ++i) {
      auto const row = batch.row(i);
      rows.emplace_back(row.begin(), row.end());
    }
  });
  EXPECT_EQ(rows.size(), source.rows());
  return rows;
}

bool Same(std::vector<Entry> const& a, std::vector<Entry> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Entry x, Entry y) { return x.feature == y.feature && x.value == y.value; });
}

TEST(RowSliceTest, HasTheRowsOfTheSourceInBatchesOfAnySize) {
  auto const values = testing::RandomValues({23, 4, 0.3}, 5);
  for (std::size_t const batch_rows : {0U, 1U, 4U, 7U}) {
    MemorySource const whole{values, batch_rows};
    auto const rows = ReadRows(whole);
    for (std::uint64_t first = 0; first <= 23; ++first) {
      for (std::uint64_t n = 0; first + n <= 23; ++n) {
        RowSlice const slice{whole, first, n};
        EXPECT_EQ(slice.features(), 4U);
        EXPECT_FALSE(slice.dense());
        auto const own = ReadRows(slice);
        ASSERT_EQ(own.size(), n);
        for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(Same(own[i], rows[first + i])) << first << " " << i;
      }
    }
  }
}

TEST(RowSliceTest, OfAnArrayIsAnArray) {
  std::vector<std::int16_t> const numbers{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (ValueType const type : {ValueType::kInt8, ValueType::kUInt16, ValueType::kFloat32}) {
    DenseValues const values{numbers.data(), type, 7.0f, 3};
    ArraySource const whole{values, 4, 3, 1};
    auto const own = RowSlice{whole, 2, 1}.dense();
    ASSERT_TRUE(own);
    EXPECT_EQ(own->data, reinterpret_cast<char const*>(numbers.data()) + 6 * ValueBytes(type));
    EXPECT_EQ(own->type, type);
    EXPECT_EQ(own->missing, 7.0f);
    EXPECT_EQ(own->device, 3);
  }
}

TEST(RowSliceTest, HasTheRowsOfTheSourceInArraysOfAnySize) {
  std::vector<std::int16_t> numbers(23 * 3);
  std::iota(numbers.begin(), numbers.end(), std::int16_t{0});
  ArraySource const one{{numbers.data(), ValueType::kInt16}, 23, 3, 1};
  for (std::uint64_t const most : {1U, 4U, 7U, 23U}) {
    testing::ArraysSource const whole{one, most};
    for (std::uint64_t first = 0; first <= 23; ++first) {
      for (std::uint64_t n = 0; first + n <= 23; ++n) {
        RowSlice const slice{whole, first, n};
        EXPECT_FALSE(slice.dense());
        ASSERT_TRUE(slice.arrays());
        EXPECT_EQ(slice.arrays()->type, ValueType::kInt16);
        std::vector<std::int16_t> own;
        slice.ForEachArray([&](ArrayBatch const& array) {
          EXPECT_EQ(array.first_row * 3, own.size());
          EXPECT_GT(array.rows, 0U);
          auto const* const values = static_cast<std::int16_t const*>(array.values.data);
          own.insert(own.end(), values, values + array.rows * 3);
        });
        auto const begin = numbers.cbegin() + static_cast<std::ptrdiff_t>(first * 3);
        ASSERT_EQ(own, (std::vector<std::int16_t>{begin, begin + static_cast<std::ptrdiff_t>(n * 3)}));
      }
    }
  }
}

TEST(RowSliceTest, OneArrayComesAsThisArray) {
  std::vector<float> const numbers{0, 1, 2, 3};
  ArraySource const whole{{numbers.data()}, 4, 1, 1};
  RowSlice const slice{whole, 1, 2};
  ReadingTurns const turns{slice};
  int visits = 0;
  turns.ForEachArray([&](ArrayBatch const& array) {
    EXPECT_EQ(array.values.data, numbers.data() + 1);
    EXPECT_EQ(array.first_row, 0U);
    EXPECT_EQ(array.rows, 2U);
    ++visits;
  });
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(turns.arrays()->data, numbers.data() + 1);
  MemorySource const entries{testing::RandomValues({5, 3}, 6)};
  EXPECT_FALSE(RowSlice(entries, 1, 2).arrays());
  RowSlice{entries, 1, 2}.ForEachArray([](ArrayBatch const&) { ADD_FAILURE() << "There is no array"; });
}

TEST(RowSliceTest, OfASliceIsASlice) {
  std::vector<float> const numbers{0, 1, 2, 3, 4, 5, 6, 7};
  ArraySource const whole{{numbers.data()}, 8, 1, 1};
  RowSlice const outer{whole, 2, 5};
  RowSlice const inner{outer, 1, 3};
  auto const rows = ReadRows(inner);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rows[i][0].value, static_cast<float>(3 + i));
  EXPECT_EQ(inner.dense()->data, numbers.data() + 3);
}

TEST(RowSliceTest, KnowsWhichFeaturesAreCategorical) {
  MemorySource whole{testing::RandomValues({5, 3}, 6)};
  whole.SetCategorical({0, 1, 0});
  auto const categorical = RowSlice{whole, 1, 2}.categorical();
  EXPECT_EQ(std::vector<std::uint8_t>(categorical.begin(), categorical.end()), (std::vector<std::uint8_t>{0, 1, 0}));
}

TEST(RowSliceTest, RowsThatThereAreNotAreRefused) {
  MemorySource const whole{testing::RandomValues({5, 3}, 7)};
  for (auto const& [first, n] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 6}, {6, 0}, {4, 2}}) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&, first = first, n = n] { RowSlice(whole, first, n); },
                                           {"Rows " + std::to_string(first), "5 rows"}),
              "");
  }
}

// A table is only described: its addresses are not read.
TEST(RowSliceTest, OfATableOnADevice) {
  std::uint8_t const memory[64] = {};
  DeviceTable const table{{{memory + 60, -4, NumberType::kInt32, memory}, {memory, 2, NumberType::kInt16, nullptr}},
                          40};
  DeviceTable const part = RowsOf(RowsOf(table, 5, 30), 6, 7);
  EXPECT_EQ(part.rows, 7U);
  EXPECT_EQ(part.columns[0].data, memory + 60 - 4 * 11);
  EXPECT_EQ(part.columns[0].stride, -4);
  EXPECT_EQ(part.columns[0].valid, memory + 1);  // of the second byte
  EXPECT_EQ(part.first_bit, 3);                  // this bit
  EXPECT_EQ(part.columns[1].data, memory + 2 * 11);
  EXPECT_EQ(part.columns[1].valid, nullptr);
}

/// Fails if two threads read it at the same time.
class OneReader final : public RowSource {
 public:
  std::uint64_t rows() const override { return 1; }
  FeatureIndex features() const override { return 2; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    EXPECT_EQ(readers_++, 0);
    std::vector<std::uint64_t> const offsets{0, 1};
    std::vector<Entry> const entries{{1, 2.5f}};
    std::this_thread::yield();
    visit({0, offsets, entries});
    --readers_;
  }

 private:
  mutable std::atomic<int> readers_{0};
};

TEST(ReadingTurnsTest, OneThreadReadsAtATime) {
  OneReader const source;
  ReadingTurns const turns{source};
  EXPECT_EQ(turns.rows(), 1U);
  EXPECT_EQ(turns.features(), 2U);
  std::vector<std::thread> threads;
  std::atomic<int> passes{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        turns.ForEachBatch([&](RowBatch const& batch) { passes += static_cast<int>(batch.rows()); });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(passes, 400);
}

TEST(ReadingTurnsTest, AfterAnErrorAnotherMayRead) {
  MemorySource const source{testing::RandomValues({5, 3}, 8)};
  ReadingTurns const turns{source};
  EXPECT_THROW(turns.ForEachBatch([](RowBatch const&) { throw Error{"this test"}; }), Error);
  EXPECT_EQ(ReadRows(turns).size(), 5U);
}

}  // namespace
}  // namespace xgbgpu
