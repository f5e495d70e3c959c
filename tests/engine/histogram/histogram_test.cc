// histogram: sums per cell equal a plain loop, in every layout and format, for any features, rows and threads.
#include "histogram/histogram.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "histogram/histogram_cache.h"
#include "support/data.h"
#include "support/layouts.h"

namespace xgbgpu {
namespace {

using testing::LayoutCase;
using testing::Random;

/// Makes random records of one format, up to its bounds.
struct Gradients {
  Gradients(bool narrow_format, std::size_t rows, std::uint64_t seed) : narrow(rows), wide(rows) {
    Random random{seed};
    view = {{narrow_format, 0, 0}, narrow.data(), wide.data()};
    auto const below = [&](std::int64_t bound) {
      return static_cast<std::int64_t>(random.Below(static_cast<std::size_t>(2 * bound + 1))) - bound;
    };
    for (std::size_t r = 0; r < rows; ++r) {
      narrow[r] = {static_cast<std::int16_t>(below(1 << kNarrowBits)),
                   static_cast<std::int16_t>(below(1 << kNarrowBits))};
      wide[r] = {below(std::int64_t{1} << kWideBits), below(std::int64_t{1} << kWideBits)};
    }
  }
  GradientSum row(RowIndex r) const {
    return view.format.narrow ? GradientSum{narrow[r].grad, narrow[r].hess} : wide[r];
  }

  std::vector<RowRecord> List(std::vector<RowIndex> const& rows) const {
    return testing::Records(rows, view.format.narrow ? narrow : std::vector<NarrowGradient>{});
  }

  std::vector<NarrowGradient> narrow;
  std::vector<GradientSum> wide;
  GradientView view;
};

/// Returns cell → sum, by a plain loop.
std::map<BinIndex, GradientSum> PlainSums(QuantisedMatrix const& m, Gradients const& g,
                                          std::vector<RowIndex> const& rows) {
  std::map<BinIndex, GradientSum> sums;
  for (RowIndex r : rows) {
    m.Visit([&](auto const& view) {
      testing::ForEachCell(view, m, r, [&](FeatureIndex, BinIndex cell) {
        sums[cell].grad += g.row(r).grad;
        sums[cell].hess += g.row(r).hess;
      });
    });
  }
  return sums;
}

void ExpectEqual(QuantisedMatrix const& m, std::map<BinIndex, GradientSum> const& expected, GradientSum const* sums,
                 std::vector<FeatureIndex> const& features) {
  for (FeatureIndex f : features) {
    for (BinIndex c = m.cell_ptr[f]; c < m.cell_ptr[f + 1]; ++c) {
      auto const it = expected.find(c);
      ASSERT_EQ(sums[c], it == expected.end() ? GradientSum{} : it->second) << "feature " << f << " cell " << c;
    }
  }
}

std::vector<RowIndex> EveryNth(std::size_t rows, std::size_t n) {
  std::vector<RowIndex> listed;
  for (std::size_t r = 0; r < rows; r += n) listed.push_back(static_cast<RowIndex>(r));
  return listed;
}

std::vector<FeatureIndex> AllFeatures(QuantisedMatrix const& m) {
  std::vector<FeatureIndex> all(m.features());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// Builds the histograms of several nodes at once, in memory full of garbage, and compares them with plain sums.
void Check(QuantisedMatrix const& m, Gradients const& g, std::vector<std::vector<RowIndex>> const& nodes,
           std::vector<FeatureIndex> const& features, int threads) {
  host::HistogramBuilder builder{m, threads};
  builder.SetFeatures(features);
  std::vector<Buffer<GradientSum>> sums;
  std::vector<host::HistogramJob> jobs;
  std::vector<std::vector<RowRecord>> lists;
  for (auto const& rows : nodes) {
    lists.push_back(g.List(rows));
    sums.emplace_back(m.cells());
    std::fill_n(sums.back().data(), m.cells(), GradientSum{-77, 77});
    jobs.push_back({lists.back(), sums.back().data()});
  }
  builder.Build(m, g.view, jobs);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    ExpectEqual(m, PlainSums(m, g, nodes[n]), sums[n].data(), features);
  }
}

class HistogramTest : public ::testing::TestWithParam<std::tuple<LayoutCase, bool>> {
 protected:
  LayoutCase const& layout() const { return std::get<0>(GetParam()); }
  bool narrow() const { return std::get<1>(GetParam()); }
};

TEST_P(HistogramTest, EqualsAPlainLoop) {
  auto const m = testing::MakeMatrix(testing::RandomValues(layout().shape, 61), layout().max_bin);
  ASSERT_EQ(m->layout, layout().layout);
  Gradients const g{narrow(), m->rows, 62};
  for (int threads : {1, 2, 3, 7}) {
    Check(*m, g, {EveryNth(m->rows, 1), EveryNth(m->rows, 2), EveryNth(m->rows, 100), {}, {5}}, AllFeatures(*m),
          threads);
  }
}

TEST_P(HistogramTest, SubsetsOfColumns) {
  auto const m = testing::MakeMatrix(testing::RandomValues(layout().shape, 63), layout().max_bin);
  Gradients const g{narrow(), m->rows, 64};
  auto const last = m->features() - 1;
  for (std::vector<FeatureIndex> const& features :
       {std::vector<FeatureIndex>{0}, {last}, {1, 3}, {0, 1, 2}, {0, 2, last}}) {
    Check(*m, g, {EveryNth(m->rows, 1), EveryNth(m->rows, 7)}, features, 2);
  }
}

TEST_P(HistogramTest, ChildAndSiblingAreTheParent) {
  auto const m = testing::MakeMatrix(testing::RandomValues(layout().shape, 65), layout().max_bin);
  Gradients const g{narrow(), m->rows, 66};
  std::vector<RowIndex> child, sibling;
  for (RowIndex r = 0; r < m->rows; ++r) (r % 3 == 0 ? child : sibling).push_back(r);
  host::HistogramBuilder builder{*m, 2};
  Buffer<GradientSum> parent_sums{m->cells()}, child_sums{m->cells()};
  std::vector<RowIndex> const all = EveryNth(m->rows, 1);
  auto const all_list = g.List(all), child_list = g.List(child);
  std::vector<host::HistogramJob> const jobs{{all_list, parent_sums.data()}, {child_list, child_sums.data()}};
  builder.Build(*m, g.view, jobs);
  for (auto const& block : builder.blocks()) host::SubtractHistogram(block, child_sums.data(), parent_sums.data());
  ExpectEqual(*m, PlainSums(*m, g, sibling), parent_sums.data(), AllFeatures(*m));
}

INSTANTIATE_TEST_SUITE_P(Layouts, HistogramTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kLayoutCases), ::testing::Bool()),
                         [](auto const& c) {
                           return std::string{std::get<0>(c.param).name} + (std::get<1>(c.param) ? "Narrow" : "Wide");
                         });

/// Many rows have narrow records at their bound in one and the same cell: more than a packed word can sum.
class LongHistogramTest : public ::testing::TestWithParam<std::tuple<int, double>> {};

TEST_P(LongHistogramTest, RowsBeyondOneChunk) {
  auto const [threads, missing] = GetParam();
  constexpr std::size_t kRows = 300000;
  auto const m = testing::MakeMatrix(testing::RandomValues({kRows, 3, missing, 2}, 67), 16);
  for (int sign : {-1, 1}) {
    Gradients g{true, kRows, 68};
    for (auto& record : g.narrow) {
      record = {static_cast<std::int16_t>(sign * (1 << kNarrowBits)),
                static_cast<std::int16_t>(-sign * (1 << kNarrowBits))};
    }
    Check(*m, g, {EveryNth(kRows, 1), EveryNth(kRows, 3)}, AllFeatures(*m), threads);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, LongHistogramTest,
                         ::testing::Combine(::testing::Values(1, 3), ::testing::Values(0.0, 0.8)));

TEST(HistogramBlockTest, BlocksCoverTheFeaturesOnce) {
  auto const m = testing::MakeMatrix(testing::RandomValues({900, 150, 0.1}, 69), 500);
  host::HistogramBuilder builder{*m, 2};
  std::vector<FeatureIndex> const sampled{0, 1, 2, 60, 61, 70, 149};
  for (auto const& features : {AllFeatures(*m), sampled}) {
    builder.SetFeatures(features);
    std::vector<FeatureIndex> seen;
    for (auto const& block : builder.blocks()) {
      seen.insert(seen.end(), block.features.begin(), block.features.end());
      EXPECT_EQ(block.begin, m->cell_ptr[block.features.front()]);
      EXPECT_EQ(block.end, m->cell_ptr[block.features.back() + 1]);
      EXPECT_EQ(block.contiguous, block.features.back() - block.features.front() + 1 == block.features.size());
    }
    EXPECT_EQ(seen, features);
  }
  EXPECT_GT(builder.blocks().size(), 1U);
  Gradients const g{true, m->rows, 70};
  Check(*m, g, {EveryNth(m->rows, 1)}, sampled, 2);
  Check(*m, g, {EveryNth(m->rows, 1)}, AllFeatures(*m), 2);
}

TEST(HistogramCacheTest, HandsOutAndTakesBack) {
  host::HistogramCache cache{10, 3 * 10 * sizeof(GradientSum)};
  EXPECT_EQ(cache.bytes(), 0U);
  int const a = cache.Acquire(), b = cache.Acquire(), c = cache.Acquire();
  EXPECT_NE(cache.sums(a), cache.sums(b));
  EXPECT_NE(cache.sums(b), cache.sums(c));
  EXPECT_EQ(cache.Acquire(), host::HistogramCache::kNoSlot);
  cache.Release(b);
  EXPECT_EQ(cache.Acquire(), b);
  EXPECT_EQ(cache.bytes(), 3 * 10 * sizeof(GradientSum));
  cache.ReleaseAll();
  for (int i = 0; i < 3; ++i) EXPECT_NE(cache.Acquire(), host::HistogramCache::kNoSlot);
  EXPECT_EQ(cache.Acquire(), host::HistogramCache::kNoSlot);
}

TEST(HistogramCacheTest, NeverFewerThanTwo) {
  host::HistogramCache cache{1000, 0};
  EXPECT_NE(cache.Acquire(), host::HistogramCache::kNoSlot);
  EXPECT_NE(cache.Acquire(), host::HistogramCache::kNoSlot);
  EXPECT_EQ(cache.Acquire(), host::HistogramCache::kNoSlot);
}

}  // namespace
}  // namespace xgbgpu
