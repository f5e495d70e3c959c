// matrix: pages have the bins of the matrix in core, from any source, and come in turns.
#include "matrix/paged_matrix.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/data.h"
#include "support/layouts.h"
#include "support/paged.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::LayoutCase;
using testing::MakePaged;
using testing::MemorySource;
using testing::WhatIsWrong;

/// Counts how often another source is read.
class CountedSource final : public RowSource {
 public:
  explicit CountedSource(RowSource const& source) : source_{source} {}
  std::uint64_t rows() const override { return source_.rows(); }
  FeatureIndex features() const override { return source_.features(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    ++times_;
    source_.ForEachBatch(visit);
  }
  int times() const { return times_; }

 private:
  RowSource const& source_;
  mutable int times_{0};
};

/// Fails unless the page has these rows of the matrix in core.
void ExpectPart(Page<QuantisedMatrix> const& page, QuantisedMatrix const& whole) {
  QuantisedMatrix const& m = page.matrix;
  EXPECT_EQ(m.cuts, whole.cuts);
  EXPECT_EQ(m.layout, whole.layout);
  EXPECT_EQ(m.cell_ptr, whole.cell_ptr);
  EXPECT_EQ(m.row_stride, whole.row_stride);
  ASSERT_LE(page.first_row + m.rows, whole.rows);
  if (m.dense()) {
    std::size_t const row_bytes = m.row_stride * m.symbol_bytes();
    for (std::size_t r = 0; r < m.rows; ++r) {  // what pads a row may be anything
      ASSERT_EQ(std::memcmp(m.data.data() + r * row_bytes, whole.data.data() + (page.first_row + r) * row_bytes,
                            m.features() * m.symbol_bytes()),
                0);
    }
    return;
  }
  std::uint64_t const before = whole.row_ptr[page.first_row];
  for (std::size_t r = 0; r <= m.rows; ++r) ASSERT_EQ(m.row_ptr[r] + before, whole.row_ptr[page.first_row + r]);
  EXPECT_EQ(m.stored, m.row_ptr[m.rows]);
  EXPECT_EQ(std::memcmp(m.data.data(), whole.data.data() + before * m.symbol_bytes(), m.stored * m.symbol_bytes()), 0);
}

/// Fails unless the pages, in a pass forwards and one backwards, are parts of the matrix in core, without gaps.
void ExpectPages(PagedMatrix const& paged, QuantisedMatrix const& whole) {
  EXPECT_EQ(paged.whole().rows, whole.rows);
  EXPECT_EQ(paged.whole().stored, whole.stored);
  EXPECT_EQ(paged.whole().cell_ptr, whole.cell_ptr);
  PageReader const reader{paged};
  for (bool const backwards : {false, true, false}) {
    std::uint64_t at = backwards ? whole.rows : 0;
    std::size_t pages = 0;
    reader.ForEach([&](Page<QuantisedMatrix> const& page) {
      EXPECT_EQ(page.is_first, pages == 0);
      ++pages;
      if (backwards) at -= page.matrix.rows;
      EXPECT_EQ(page.first_row, at);
      if (!backwards) at += page.matrix.rows;
      EXPECT_LE(page.matrix.rows, paged.most_rows());
      ExpectPart(page, whole);
    });
    EXPECT_EQ(at, backwards ? 0 : whole.rows);
    EXPECT_EQ(pages, paged.pages());
  }
}

class PagedMatrixTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(PagedMatrixTest, HasTheBinsOfTheMatrixInCore) {
  auto const values = testing::RandomValues(GetParam().shape, 51);
  Cuts const cuts = reference::MakeCuts(values, {}, GetParam().max_bin);
  auto const whole = host::QuantiseMatrix(MemorySource{values}, cuts, 2);
  ASSERT_EQ(whole->layout, GetParam().layout);
  for (std::size_t const pages : {1U, 2U, 5U, 40U, 5000U}) {
    for (std::size_t const batch : pages < 5000 ? std::vector<std::size_t>{0, 7, 1000} : std::vector<std::size_t>{7}) {
      SCOPED_TRACE(std::to_string(pages) + " pages, batches of " + std::to_string(batch));
      MemorySource const rows{values, batch};
      CountedSource const source{rows};
      auto const paged = MakePaged(source, cuts, pages, batch == 7 ? testing::InMemory() : PageStore::Options{});
      EXPECT_EQ(source.times(), 2) << "once to decide, and once for all pages";
      EXPECT_GE(paged->pages(), std::min<std::size_t>(pages, 1500));
      if (pages <= 40) {
        EXPECT_LE(paged->pages(), 2 * pages);
      }
      ExpectPages(*paged, *whole);
    }
    ArraySource const array{{values.at.data()}, values.rows, static_cast<FeatureIndex>(values.features), 2};
    ExpectPages(*MakePaged(array, cuts, pages), *whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, PagedMatrixTest, ::testing::ValuesIn(testing::kLayoutCases), testing::LayoutName{});

TEST(PagedMatrixSizeTest, APageHasAsManyRowsAsFitIt) {
  // 6 features take 8 bytes a row. Sparse rows of 3 cells take 6 bytes and 8 for where they begin; a page has the end of
  // the last row and 8 spare cells beside them.
  auto const dense = testing::RandomValues({100, 6}, 52);
  Cuts const dense_cuts = reference::MakeCuts(dense, {}, 16);
  std::vector<std::vector<Entry>> rows(100, {{1, 0.5f}, {4, 1.5f}, {9, 2.5f}});
  MemorySource const sparse{rows, 10};
  auto const pages = [](RowSource const& source, Cuts const& cuts, std::size_t page_bytes) {
    return PagedMatrix{source, host::PlanMatrix(source, cuts, 1), 1, page_bytes, {}}.pages();
  };
  EXPECT_EQ(pages(MemorySource{dense}, dense_cuts, 8 * 25), 4U);
  EXPECT_EQ(pages(MemorySource{dense}, dense_cuts, 8 * 25 - 1), 5U);
  EXPECT_EQ(pages(MemorySource{dense}, dense_cuts, 1), 100U);
  Cuts of_ten;
  for (BinIndex f = 0; f <= 10; ++f) of_ten.ptr.push_back(f);
  of_ten.values.assign(10, 1.0f);
  of_ten.min_values.assign(10, 0.0f);
  EXPECT_EQ(pages(sparse, of_ten, 14 * 25 + 24), 4U);
  EXPECT_EQ(pages(sparse, of_ten, 14 * 25 + 23), 5U);
  EXPECT_EQ(pages(sparse, of_ten, 1), 100U);
  // Rows of one byte: 8 bytes of a page are as much as a row takes in lists.
  auto const narrow = testing::RandomValues({100, 1}, 53);
  EXPECT_EQ(pages(MemorySource{narrow}, reference::MakeCuts(narrow, {}, 16), 8 * 25), 4U);
}

TEST(PagedMatrixSizeTest, WithoutRowsThereIsOnePage) {
  for (bool const as_array : {false, true}) {
    MemorySource const entries{std::vector<std::vector<Entry>>{}, 3};
    ArraySource const array{{nullptr}, 0, 3, 1};
    RowSource const& source = as_array ? static_cast<RowSource const&>(array) : entries;
    auto const paged = MakePaged(source, reference::MakeCuts({0, 3}, {}, 16), 1);
    std::size_t pages = 0;
    PageReader{*paged}.ForEach([&](Page<QuantisedMatrix> const& page) {
      ++pages;
      EXPECT_TRUE(page.is_first);
      EXPECT_EQ(page.matrix.rows, 0U);
    });
    EXPECT_EQ(pages, 1U);
  }
}

TEST(PageReaderTest, GoesOnAfterAnErrorOfTheVisitor) {
  auto const values = testing::RandomValues({500, 6}, 54);
  auto const whole = testing::MakeMatrix(values, 16);
  auto const paged = MakePaged(MemorySource{values}, whole->cuts, 5);
  PageReader const reader{*paged};
  for (std::size_t stop_at = 0; stop_at < 5; ++stop_at) {
    std::size_t at = 0;
    EXPECT_THROW(reader.ForEach([&](Page<QuantisedMatrix> const&) {
      if (at++ == stop_at) throw std::runtime_error{"stop"};
    }),
                 std::runtime_error);
    std::uint64_t rows = 0;
    std::vector<bool> seen(500);
    reader.ForEach([&](Page<QuantisedMatrix> const& page) {
      ExpectPart(page, *whole);
      rows += page.matrix.rows;
      for (std::size_t r = 0; r < page.matrix.rows; ++r) seen[page.first_row + r] = true;
    });
    EXPECT_EQ(rows, 500U);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 500);
  }
}

TEST(PageReaderTest, WhatIsInMemoryIsNotReadAgain) {
  // The file is emptied between two passes: pages that the first has left in memory are there, and others are not.
  auto const values = testing::RandomValues({500, 6}, 55);
  Cuts const cuts = reference::MakeCuts(values, {}, 16);
  for (std::size_t const pages : {1U, 2U, 3U}) {
    auto const paged = MakePaged(MemorySource{values}, cuts, pages, {});
    ASSERT_EQ(paged->pages() > 2, pages > 2);
    PageReader const reader{*paged};
    std::size_t visits = 0;
    auto const visit = [&](Page<QuantisedMatrix> const&) { ++visits; };
    reader.ForEach(visit);
    ASSERT_EQ(ftruncate(paged->store().descriptor(), 0), 0);
    if (pages <= 2) {
      reader.ForEach(visit);
      EXPECT_EQ(visits, 2 * pages);
    } else {
      EXPECT_EQ(
          WhatIsWrong<Error>([&] { reader.ForEach(visit); }, {"page " + std::to_string(paged->pages() - 3) + " "}), "");
    }
  }
}

}  // namespace
}  // namespace xgbgpu
