// quantile: cuts equal those of the reference for any data, weights, batches and threads.
#include "quantile/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_bits.h"
#include "quantile/fit_cuts.h"
#include "quantile/quantile_ops.h"
#include "quantile/radix_sort.h"
#include "reference/matrix.h"
#include "support/data.h"
#include "xgbgpu/error.h"
#include "xgbgpu/params.h"

namespace xgbgpu {
namespace {

using reference::Values;
using testing::DataShape;
using testing::MemorySource;
using testing::Random;
using testing::RandomValues;
using testing::WhatIsWrong;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Cuts EngineCuts(Values const& values, std::vector<float> const& weights, int max_bin, int threads = 2,
                std::size_t batch_rows = 0) {
  return host::ComputeCuts(MemorySource{values, batch_rows}, weights, max_bin, threads);
}

/// Returns multiples of 1/256 in [0, 4), which are exact in integers and doubles; one in eight is 0.
std::vector<float> RandomWeights(std::size_t rows, std::uint64_t seed) {
  Random random{seed};
  std::vector<float> weights(rows);
  for (float& w : weights) w = random.Below(8) == 0 ? 0.0f : static_cast<float>(random.Below(1024)) / 256.0f;
  return weights;
}

struct QuantileCase {
  char const* name;
  DataShape shape;
  bool weighted;
  int max_bin;
};

void PrintTo(QuantileCase const& c, std::ostream* os) { *os << c.name; }

std::string NameOfCase(::testing::TestParamInfo<QuantileCase> const& c) { return c.param.name; }

class QuantileTest : public ::testing::TestWithParam<QuantileCase> {};

TEST_P(QuantileTest, EqualsTheReference) {
  auto const& c = GetParam();
  auto const values = RandomValues(c.shape, 31);
  auto const weights = c.weighted ? RandomWeights(c.shape.rows, 32) : std::vector<float>{};
  Cuts const expected = reference::MakeCuts(values, weights, c.max_bin);
  for (int threads : {1, 2, 3, 7}) EXPECT_EQ(EngineCuts(values, weights, c.max_bin, threads), expected) << threads;
  for (std::size_t batch : {1U, 7U, 1000U}) {
    EXPECT_EQ(EngineCuts(values, weights, c.max_bin, 3, batch), expected) << "batches of " << batch;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Data, QuantileTest,
    ::testing::Values(
        QuantileCase{"Small", {40, 5}, false, 256}, QuantileCase{"OneRow", {1, 3}, false, 256},
        QuantileCase{"MoreRowsThanBins", {3000, 4}, false, 256}, QuantileCase{"OneMoreThanBins", {257, 2}, false, 256},
        QuantileCase{"TwoMoreThanBins", {258, 2}, false, 256}, QuantileCase{"TwoBins", {1000, 3}, false, 2},
        QuantileCase{"ThreeBins", {1000, 3}, false, 3}, QuantileCase{"FewValues", {3000, 4, 0.0, 7}, false, 256},
        QuantileCase{"Ties", {3000, 4, 0.2, 400}, false, 64}, QuantileCase{"Missing", {2500, 4, 0.9}, false, 32},
        QuantileCase{"Weighted", {3000, 4}, true, 64}, QuantileCase{"WeightedTies", {3000, 4, 0.3, 300}, true, 16},
        QuantileCase{"WeightedSmall", {30, 4}, true, 256}, QuantileCase{"Thousand", {4000, 2}, false, 1000}),
    NameOfCase);

TEST(QuantileRuleTest, UpTo2048DistinctValuesAtAsManyBinsGetOneBinEach) {
  auto const values = RandomValues({2048, 1}, 33);
  Cuts const cuts = EngineCuts(values, {}, 2048);
  std::vector<float> sorted = values.at;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_EQ(cuts.bins(), sorted.size());
  // Each value but the smallest begins a bin.
  EXPECT_TRUE(std::equal(sorted.begin() + 1, sorted.end(), cuts.values.begin()));
}

TEST(QuantileRuleTest, MaxBinLimit) {
  constexpr std::size_t kRows = 70000;
  Values values{kRows, 1};
  for (std::size_t r = 0; r < kRows; ++r) values(r, 0) = static_cast<float>(r * 7919 % kRows);
  Cuts const cuts = EngineCuts(values, {}, kMaxBinLimit);
  EXPECT_EQ(cuts, reference::MakeCuts(values, {}, kMaxBinLimit));
  EXPECT_GT(cuts.bins(), 60000U);
  EXPECT_LE(cuts.bins(), static_cast<BinIndex>(kMaxBinLimit));
}

TEST(QuantileRuleTest, NoColumnHasMoreBinsThanAllowedAndBinsAreEven) {
  constexpr int kBins = 50;
  constexpr std::size_t kRows = 10000;
  auto const values = RandomValues({kRows, 3}, 34);
  Cuts const cuts = EngineCuts(values, {}, kBins);
  auto const bins = reference::MakeBins(values, cuts);
  for (FeatureIndex f = 0; f < 3; ++f) {
    EXPECT_LE(cuts.bins(f), static_cast<BinIndex>(kBins));
    std::vector<std::size_t> count(cuts.bins(f));
    for (std::size_t r = 0; r < kRows; ++r) ++count[static_cast<std::size_t>(bins(r, f))];
    // Ranks are exact. A value weighs 1, or 2 where random floats are equal. Either end of a bin is off by one value.
    for (std::size_t n : count) EXPECT_NEAR(static_cast<double>(n), kRows / kBins, 4);
  }
}

TEST(QuantileRuleTest, ConstantAndEmptyColumns) {
  Values values{20, 3};
  for (std::size_t r = 0; r < 20; ++r) values(r, 1) = -3.0f;
  Cuts const cuts = EngineCuts(values, {}, 16);
  EXPECT_EQ(cuts, reference::MakeCuts(values, {}, 16));
  EXPECT_EQ(cuts.ptr, (std::vector<BinIndex>{0, 1, 2, 3}));
  EXPECT_GT(cuts.values[1], -3.0f);
  EXPECT_LT(cuts.min_values[1], -3.0f);
}

TEST(QuantileRuleTest, ZerosOfBothSignsAreOneValue) {
  Values values{4, 1};
  values.at = {-0.0f, 0.0f, 1.0f, -1.0f};
  Cuts const cuts = EngineCuts(values, {}, 16);
  EXPECT_EQ(cuts.bins(), 3U);
  EXPECT_EQ(cuts, reference::MakeCuts(values, {}, 16));
}

TEST(QuantileRuleTest, ExtremeValues) {
  Values values{4, 1};
  constexpr float kLargest = std::numeric_limits<float>::max() / 4;
  values.at = {kLargest, -kLargest, std::numeric_limits<float>::denorm_min(), 0.0f};
  EXPECT_EQ(EngineCuts(values, {}, 16), reference::MakeCuts(values, {}, 16));
}

TEST(QuantilePropertyTest, OrderOfRowsDoesNotMatter) {
  auto values = RandomValues({2000, 3, 0.2, 500}, 35);
  Cuts const before = EngineCuts(values, {}, 32);
  Values turned = values;
  for (std::size_t r = 0; r < values.rows; ++r) {
    for (std::size_t f = 0; f < values.features; ++f) turned(r, f) = values(values.rows - 1 - r, f);
  }
  EXPECT_EQ(EngineCuts(turned, {}, 32), before);
}

TEST(QuantilePropertyTest, WeightsAreDuplicatedRows) {
  Random random{36};
  for (DataShape const shape : {DataShape{500, 3, 0.1, 90}, DataShape{500, 3}, DataShape{20, 2}}) {
    auto const values = RandomValues(shape, 37);
    std::vector<float> weights(shape.rows);
    Values repeated{0, shape.features};
    for (std::size_t r = 0; r < shape.rows; ++r) {
      weights[r] = static_cast<float>(random.Below(5));
      for (int copy = 0; copy < static_cast<int>(weights[r]); ++copy) {
        for (std::size_t f = 0; f < shape.features; ++f) repeated.at.push_back(values(r, f));
        ++repeated.rows;
      }
    }
    for (int max_bin : {8, 32, 256}) {
      EXPECT_EQ(EngineCuts(values, weights, max_bin), EngineCuts(repeated, {}, max_bin)) << max_bin;
    }
  }
}

TEST(QuantilePropertyTest, ScaleOfTheWeightsDoesNotMatter) {
  auto const values = RandomValues({1000, 3}, 38);
  auto weights = RandomWeights(1000, 39);
  Cuts const expected = EngineCuts(values, weights, 32);
  for (float factor : {0x1p-120f, 0x1p100f}) {
    auto scaled = weights;
    for (float& w : scaled) w *= factor;
    EXPECT_EQ(EngineCuts(values, scaled, 32), expected) << factor;
  }
}

// Rows whose weight is nothing beside another row's still count in columns that the other row misses.
TEST(QuantilePropertyTest, RowsOfTheLeastWeightCount) {
  auto values = RandomValues({300, 2, 0.0, 40}, 41);
  values(7, 1) = std::numeric_limits<float>::quiet_NaN();
  auto const cuts_of_light = [&](float heavy) {
    std::vector<float> weights(300, 1.0f);
    weights[7] = heavy;
    Cuts const cuts = EngineCuts(values, weights, 32);
    return std::vector<float>(cuts.values.begin() + cuts.ptr[1], cuts.values.end());
  };
  auto const expected = cuts_of_light(1);
  EXPECT_GT(expected.size(), 20U);
  for (float const heavy : {0x1p30f, 0x1p46f, 0x1p100f}) EXPECT_EQ(cuts_of_light(heavy), expected) << heavy;
}

TEST(QuantilePropertyTest, NoWeightAtAllLeavesOneBinForAllValues) {
  auto const values = RandomValues({10, 2}, 40);
  Cuts const cuts = EngineCuts(values, std::vector<float>(10, 0.0f), 32);
  EXPECT_EQ(cuts.bins(), 2U);
  EXPECT_EQ(FitCuts(cuts, MemorySource{values}, 2), cuts);
}

TEST(QuantilePropertyTest, TheEndsOfAFeatureHoldRowsOfWeight0) {
  Values values{5, 2};
  values.at = {-8.0f, 5.0f, 1.0f, 6.0f, 2.0f, 7.0f, 3.0f, 100.0f, reference::kMissing, 8.0f};
  std::vector<float> const weights{0, 1, 1, 0, 1}, of_the_others{1, 1, 1};
  Values others{3, 2};
  others.at = {1.0f, 6.0f, 2.0f, 7.0f, reference::kMissing, 8.0f};
  Cuts const cuts = EngineCuts(values, weights, 16), of_others = EngineCuts(others, of_the_others, 16);
  EXPECT_EQ(cuts.ptr, of_others.ptr) << "no bin of its own for a row of weight 0";
  EXPECT_EQ(std::vector<float>(cuts.values.begin(), cuts.values.end() - 1),
            std::vector<float>(of_others.values.begin(), of_others.values.end() - 1));
  EXPECT_LT(cuts.min_values[0], -8.0f);
  EXPECT_GT(cuts.values.back(), 100.0f);
  EXPECT_EQ(FitCuts(cuts, MemorySource{values}, 2), cuts);
}

TEST(QuantileErrorTest, InfiniteValuesAreNamed) {
  for (float bad : {kInfinity, -kInfinity}) {
    auto values = RandomValues({30, 4}, 41);
    values(17, 2) = bad;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { EngineCuts(values, {}, 32, 3, 4); }, {"row 17", "feature 2", "inf"}),
              "");
  }
}

TEST(QuantileErrorTest, FeaturesOutsideTheMatrixAreNamed) {
  for (FeatureIndex bad : {FeatureIndex{2}, ~FeatureIndex{0}}) {
    MemorySource const source{{{{0, 1.0f}}, {{bad, 1.0f}}}, 2};
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { host::ComputeCuts(source, {}, 32, 2); },
                                           {"row 1", "feature " + std::to_string(bad), "0 to 1"}),
              "");
  }
}

TEST(QuantileErrorTest, Weights) {
  auto const values = RandomValues({5, 2}, 42);
  auto const with = [&](std::vector<float> const& weights) { return [&] { EngineCuts(values, weights, 32); }; };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(with({1, 1}), {"2 weights", "5 rows"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(with({1, 1, 1, -2, 1}), {"row 3", "-2", "0 or larger"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(with({1, std::nanf(""), 1, 1, 1}), {"row 1", "nan"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(with({kInfinity, 1, 1, 1, 1}), {"row 0", "inf"}), "");
}

TEST(QuantileErrorTest, MaxBin) {
  auto const values = RandomValues({5, 2}, 43);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { EngineCuts(values, {}, 1); }, {"max_bin", "is 1"}), "");
}

TEST(BinEdgesTest, EveryDistinctValueIsTheLowerEndOfABin) {
  Values values{5, 2};
  values.at = {1.0f, -2.0f, 3.0f, reference::kMissing, 1.0f, 0.5f, 2.0f, 0.5f, 3.0f, -2.0f};
  Cuts const cuts = host::CutsFromBinEdges(MemorySource{values, 2}, 3);
  constexpr float kTop = std::numeric_limits<float>::max();
  EXPECT_EQ(cuts.ptr, (std::vector<BinIndex>{0, 3, 5}));
  EXPECT_EQ(cuts.values, (std::vector<float>{2.0f, 3.0f, kTop, 0.5f, kTop}));
  EXPECT_EQ(cuts.min_values, (std::vector<float>{1.0f, -2.0f}));
}

TEST(BinEdgesTest, AboveTheLargestFloatIsInfinity) {
  constexpr float kTop = std::numeric_limits<float>::max();
  Values values{2, 3};
  values.at = {0.0f, 0.0f, 0.0f, kTop, 0.6f * kTop, 0.4f * kTop};
  EXPECT_EQ(host::CutsFromBinEdges(MemorySource{values}, 2).values,
            (std::vector<float>{kTop, kInfinity, 0.6f * kTop, kInfinity, 0.4f * kTop, kTop}));
}

TEST(BinEdgesTest, MoreBinsThanASymbolHoldsAreAnError) {
  constexpr std::size_t kEdges = kMaxBinLimit + std::size_t{1};
  Values values{kEdges, 2};
  for (std::size_t r = 0; r < kEdges; ++r) values(r, 1) = static_cast<float>(r);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { host::CutsFromBinEdges(MemorySource{values}, 2); },
                                         {"feature 1", "65536", "65535"}),
            "");
}

TEST(FitCutsTest, CutsOfTheSameRowsStayAsTheyAre) {
  auto const values = RandomValues({500, 4}, 45);
  Cuts const cuts = EngineCuts(values, {}, 16);
  EXPECT_EQ(FitCuts(cuts, MemorySource{values, 100}, 3), cuts);
}

TEST(FitCutsTest, SmallerValuesLowerTheMinimumAndLargerOnesRaiseTheLastCut) {
  Values values{3, 2}, other{2, 2};
  values.at = {1.0f, 5.0f, 2.0f, 6.0f, 3.0f, 7.0f};
  other.at = {-8.0f, 100.0f, reference::kMissing, 6.0f};
  Cuts const cuts = EngineCuts(values, {}, 16), fitted = FitCuts(cuts, MemorySource{other}, 2);
  EXPECT_EQ(fitted.ptr, cuts.ptr);
  std::vector<float> raised = cuts.values;
  EXPECT_LT(raised.back(), 100.0f);
  EXPECT_GT(fitted.values.back(), 100.0f);
  raised.back() = fitted.values.back();
  EXPECT_EQ(fitted.values, raised);
  EXPECT_LT(fitted.min_values[0], -8.0f);
  EXPECT_EQ(fitted.min_values[1], cuts.min_values[1]);
}

TEST(FitCutsTest, NewCategoriesGetBins) {
  Values values{3, 2}, other{2, 2};
  values.at = {1, 5, 2, 6, 0, 7};
  other.at = {4, 1, 0, 1};
  MemorySource source{values}, other_source{other};
  source.SetCategorical({1, 1});
  other_source.SetCategorical({1, 1});
  Cuts const cuts = host::ComputeCuts(source, {}, 16, 2), fitted = FitCuts(cuts, other_source, 2);
  EXPECT_EQ(cuts.ptr, (std::vector<BinIndex>{0, 3, 11}));
  EXPECT_EQ(fitted.ptr, (std::vector<BinIndex>{0, 5, 13}));
  EXPECT_EQ(fitted.values[4], 5.0f);
}

TEST(FitCutsTest, OtherColumnsAndInfiniteValuesAreErrors) {
  auto const values = RandomValues({50, 4}, 46);
  Cuts const cuts = EngineCuts(values, {}, 16);
  MemorySource const narrow{RandomValues({50, 3}, 47)};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { FitCuts(cuts, narrow, 2); }, {"3 columns", "(ref) have 4"}), "");
  MemorySource categorical{values};
  categorical.SetCategorical({0, 0, 0, 1});
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { FitCuts(cuts, categorical, 2); }, {"feature_types"}), "");
  Values infinite{2, 4};
  infinite(1, 2) = kInfinity;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { FitCuts(cuts, MemorySource{infinite}, 2); }, {"ow 1", "inf"}), "");
}

TEST(AscendingKeyTest, OrdersLikeFloatsAndComesBack) {
  Random random{44};
  auto const any_float = [&] {
    float v;
    do {
      auto const bits = static_cast<std::uint32_t>(random.Bits());
      std::memcpy(&v, &bits, sizeof(v));
    } while (std::isnan(v));
    return v;
  };
  for (int i = 0; i < 100000; ++i) {
    float const a = any_float(), b = any_float();
    ASSERT_EQ(AscendingKey(a) < AscendingKey(b), a < b) << a << " " << b;
    ASSERT_EQ(ValueOfKey(AscendingKey(a)), a);
  }
  EXPECT_EQ(AscendingKey(-0.0f), AscendingKey(0.0f));
}

TEST(RadixSortTest, SortsAnyLength) {
  Random random{45};
  for (std::size_t n : {0U, 1U, 2U, 511U, 512U, 513U, 5000U, 100000U}) {
    for (std::uint32_t mask : {0xFFFFFFFFU, 0x000007FFU, 0x003FF800U, 0xFFC00000U, 0U}) {
      std::vector<std::uint32_t> items(n), scratch(n);
      for (auto& x : items) x = static_cast<std::uint32_t>(random.Bits()) & mask;
      auto expected = items;
      std::sort(expected.begin(), expected.end());
      auto const sorted =
          host::RadixSort(Span<std::uint32_t>{items}, Span<std::uint32_t>{scratch}, [](std::uint32_t x) { return x; });
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), sorted.begin(), sorted.end())) << n << " mask " << mask;
    }
  }
}

}  // namespace
}  // namespace xgbgpu
