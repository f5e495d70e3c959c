// Cuts found on a device equal the host's, bit for bit, however the data are read.
#include "quantile/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/float_bits.h"
#include "quantile/columns.h"
#include "quantile/counted_columns_cuda.h"
#include "quantile/fit_cuts.h"
#include "quantile/key_counter_host.h"
#include "quantile/quantile_cuda.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "user_arrays/array_case.h"
#include "user_arrays/data_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

using testing::Bits;
/// Returns what differs; empty if both have the same bits.
std::string Difference(Cuts const& device, Cuts const& host) {
  if (device.ptr != host.ptr) return "numbers of bins differ";
  if (Bits(device.values) != Bits(host.values)) return "cut values differ";
  if (Bits(device.min_values) != Bits(host.min_values)) return "smallest values differ";
  return {};
}

class CudaQuantileTest : public ::testing::TestWithParam<DataCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaQuantileTest, EqualTheHosts) {
  DataCase const& c = GetParam();
  auto const plain = MakeSource(c, 0);
  auto const present = host::CountColumns(plain, 2);
  auto const weights = RandomWeights(c.shape.rows, 72);
  for (Reading const& reading : Readings(c)) {
    auto const source = MakeSource(c, reading.batch_rows);
    for (int const max_bin : reading.max_bins) {
      for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
        DeviceArena arena{"This test"};
        auto const found =
            cuda::FindQuantiles(source, {max_bin, w}, {0, reading.threads, reading.memory_bytes}, &arena);
        ASSERT_EQ(Difference(found.cuts, host::ComputeCuts(plain, w, max_bin, 2)), "")
            << NameOf(reading) << ", max_bin " << max_bin << (w.empty() ? "" : ", weights");
        ASSERT_EQ(found.present, present) << NameOf(reading);
        // After several passes not all columns are in memory.
        ASSERT_FALSE(reading.memory_bytes == 1 && c.shape.features > 1 && found.columns);
      }
    }
  }
}

TEST_P(CudaQuantileTest, BinEdgesEqualTheHosts) {
  DataCase const& c = GetParam();
  if (c.shape.levels == 0 && c.shape.rows > kMaxBinLimit) GTEST_SKIP() << "more values than a feature may have bins";
  Cuts const expected = host::CutsFromBinEdges(MakeSource(c, 0), 2);
  for (Reading const& reading : Readings(c)) {
    DeviceArena arena{"This test"};
    auto const found = cuda::FindQuantiles(MakeSource(c, reading.batch_rows), {0, {}},
                                           {0, reading.threads, reading.memory_bytes}, &arena);
    ASSERT_EQ(Difference(found.cuts, expected), "") << NameOf(reading);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, CudaQuantileTest, ::testing::ValuesIn(DataCases()), DataCaseName{});

class CudaArrayQuantileTest : public ::testing::TestWithParam<ArrayCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaArrayQuantileTest, EqualTheHosts) {
  ArrayCase const& c = GetParam();
  CaseArray array{c};
  std::vector<DeviceArraySource> copies{array.on_device(0)};
  ArraysSource const parts{array.on_host(), c.rows / 3 + 1}, copied_parts{copies[0], c.rows / 5 + 1};
  auto const present = host::CountColumns(array.on_host(), 2);
  auto const weights = RandomWeights(c.rows, 72);
  for (int const max_bin : {2, 256, 3000}) {
    if (max_bin != 256 && c.features > 1000) continue;  // so many columns take their time on the host
    for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
      Cuts const expected = host::ComputeCuts(array.on_host(), w, max_bin, 2);
      for (RowSource const* source :
           std::initializer_list<RowSource const*>{&array.on_host(), &copies[0], &parts, &copied_parts}) {
        // Memory for all columns, for some, and for one; a pass for each of very many columns would take too long.
        for (std::size_t const bytes : {std::size_t{0}, c.rows * 40 * sizeof(float), std::size_t{1}}) {
          if ((bytes != 0 && c.features > 1000) || (bytes == 1 && max_bin != 256)) continue;
          SCOPED_TRACE(::testing::Message() << "max_bin " << max_bin << (w.empty() ? "" : ", weights") << ", device "
                                            << source->arrays()->device << ", " << bytes << " bytes");
          DeviceArena arena{"This test"};
          auto const found = cuda::FindQuantiles(*source, {max_bin, w}, {0, 3, bytes}, &arena);
          ASSERT_EQ(Difference(found.cuts, expected), "");
          ASSERT_EQ(found.present, present);
          if (bytes == 0 || (bytes == 1 && c.features > 1)) {
            ASSERT_EQ(found.columns.has_value(), bytes == 0);  // in one pass, or in several
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Arrays, CudaArrayQuantileTest, ::testing::ValuesIn(ArrayCases()), ArrayCaseName{});

// Columns that are sorted alone are longer than those of most tests; the second attempt has half of the memory.
TEST(CudaArrayMemoryTest, GoesOnInLessMemory) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  ArrayCase const large{"Large", ValueType::kUInt8, 2000003, 40};
  CaseArray const array{large};
  Cuts const expected = host::ComputeCuts(array.on_host(), {}, 16, 2);
  for (int const failing : {0, 2, 4}) {  // what sorting takes, the columns, pieces
    DeviceArena arena{"This test"};
    FailDeviceAllocation(failing);
    auto const found = cuda::FindQuantiles(array.on_host(), {16, {}}, {0, 2}, &arena);
    FailDeviceAllocation(-1);
    EXPECT_EQ(Difference(found.cuts, expected), "") << failing;
    EXPECT_FALSE(found.columns) << failing;
  }
}

// Counting instead of sorting

class CudaKeyCounterTest : public ::testing::TestWithParam<DataCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

/// Returns some prefixes of the keys of a source, and some that no key has.
std::vector<CountedPrefix> SomePrefixes(RowSource const& source, KeyDigit digit, std::size_t most) {
  std::vector<CountedPrefix> prefixes;
  source.ForEachBatch([&](RowBatch const& batch) {
    for (std::size_t i = 0; i < batch.entries.size(); i += 1 + batch.entries.size() / most) {
      Entry const& e = batch.entries[i];
      if (std::isnan(e.value)) continue;
      prefixes.push_back({e.feature, digit.PrefixOf(AscendingKey(e.value))});
      prefixes.push_back({e.feature, digit.PrefixOf(AscendingKey(e.value)) ^ 1U});
    }
  });
  auto const order = [](CountedPrefix const& p) { return std::pair{p.feature, p.bits}; };
  std::sort(prefixes.begin(), prefixes.end(), [&](auto const& a, auto const& b) { return order(a) < order(b); });
  prefixes.erase(
      std::unique(prefixes.begin(), prefixes.end(), [&](auto const& a, auto const& b) { return order(a) == order(b); }),
      prefixes.end());
  return prefixes;
}

std::vector<std::int64_t> CountsOf(KeyCounter* counter, KeyDigit digit, std::vector<CountedPrefix> const& prefixes) {
  std::vector<std::int64_t> counts(prefixes.size() * digit.counters());
  counter->Count(digit, prefixes);
  counter->Read(0, counts);
  return counts;
}

// One counter counts digit after digit: what a pass has left there must not be counted in the next.
TEST_P(CudaKeyCounterTest, CountsAreThoseOfTheHost) {
  DataCase const& c = GetParam();
  auto const source = MakeSource(c, c.shape.rows / 3 + 1);
  auto const weights = RandomWeights(c.shape.rows, 76);
  constexpr std::size_t kMost = std::size_t{1} << 28;
  for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
    double const scale = w.empty() ? 1.0 : WeightScale(w);
    auto const host = host::MakeKeyCounter(source, {w, scale}, 2, kMost);
    for (bool const as_rows : {true, false}) {
      SCOPED_TRACE(::testing::Message() << (w.empty() ? "" : "weights, ") << (as_rows ? "rows" : "pairs"));
      DeviceArena arena{"This test"};
      auto const device = cuda::MakeKeyCounter(source, {w, scale, as_rows, 2, kMost}, &arena);
      FeatureIndex const first = c.shape.features / 4;
      for (FeatureIndex const begin : {FeatureIndex{0}, first}) {
        std::vector<CountedPrefix> columns;
        for (FeatureIndex f = begin; f < std::min<FeatureIndex>(begin + 100, c.shape.features); ++f) {
          columns.push_back({f, 0});
        }
        ASSERT_EQ(CountsOf(device.get(), kKeyDigits[0], columns), CountsOf(host.get(), kKeyDigits[0], columns));
        auto const found = device->Ends(), expected = host->Ends();
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].values, expected[i].values) << i;
          ASSERT_EQ(found[i].first_weight, expected[i].first_weight) << i;
          ASSERT_EQ(found[i].last_weight, expected[i].last_weight) << i;
          ASSERT_EQ(found[i].first, expected[i].first) << i;
          ASSERT_EQ(found[i].last, expected[i].last) << i;
        }
      }
      for (int const number : {1, 2}) {
        auto const prefixes = SomePrefixes(source, kKeyDigits[number], 200);
        if (prefixes.empty()) continue;
        ASSERT_EQ(CountsOf(device.get(), kKeyDigits[number], prefixes),
                  CountsOf(host.get(), kKeyDigits[number], prefixes))
            << "digit " << number;
      }
    }
  }
}

TEST_P(CudaKeyCounterTest, CutsAreThoseOfSortedColumns) {
  DataCase const& c = GetParam();
  auto const source = MakeSource(c, 0);
  auto const weights = RandomWeights(c.shape.rows, 77);
  auto const features = static_cast<FeatureIndex>(c.shape.features);
  auto const present = host::CountColumns(source, 2);
  for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
    for (int const max_bin : {2, 16, 256}) {
      Cuts const expected = host::ComputeCuts(source, w, max_bin, 2);
      for (bool const as_rows : {true, false}) {
        for (std::size_t const bytes : {std::size_t{3} << 20, std::size_t{1} << 30}) {  // several passes, or three
          DeviceArena arena{"This test"};
          auto const counter =
              cuda::MakeKeyCounter(source, {w, w.empty() ? 1.0 : WeightScale(w), as_rows, 2, 0, bytes}, &arena);
          CountedCuts const found = FindCutsByCounting({0, features, features}, max_bin, 2, counter.get());
          ASSERT_EQ(Difference(CutsOfAllRows(found.features, source, w, 2, NoOtherShards()), expected), "")
              << "max_bin " << max_bin << (w.empty() ? "" : ", weights") << (as_rows ? ", rows, " : ", pairs, ")
              << bytes << " bytes";
          ASSERT_EQ(found.values, present);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, CudaKeyCounterTest, ::testing::ValuesIn(DataCases()), DataCaseName{});

TEST_P(CudaArrayQuantileTest, CountedKeysGiveTheHosts) {
  ArrayCase const& c = GetParam();
  if (c.features > 1000) GTEST_SKIP() << "so many columns take their time on the host";
  CaseArray array{c};
  std::vector<DeviceArraySource> copies{array.on_device(0)};
  ArraysSource const parts{array.on_host(), c.rows / 3 + 1}, copied_parts{copies[0], c.rows / 5 + 1};
  auto const weights = RandomWeights(c.rows, 78);
  auto const features = static_cast<FeatureIndex>(c.features);
  for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
    Cuts const expected = host::ComputeCuts(array.on_host(), w, 64, 2);
    for (RowSource const* source :
         std::initializer_list<RowSource const*>{&array.on_host(), &copies[0], &parts, &copied_parts}) {
      for (std::size_t const bytes : {std::size_t{5} << 20, std::size_t{1} << 30}) {
        DeviceArena arena{"This test"};
        auto const counter =
            cuda::MakeKeyCounter(*source, {w, w.empty() ? 1.0 : WeightScale(w), true, 3, 0, bytes}, &arena);
        CountedCuts const found = FindCutsByCounting({0, features, features}, 64, 3, counter.get());
        ASSERT_EQ(Difference(CutsOfAllRows(found.features, *source, w, 3, NoOtherShards()), expected), "")
            << (w.empty() ? "" : "weights, ") << "device " << source->arrays()->device << ", " << bytes << " bytes";
      }
    }
  }
}

// Where columns do not fit the memory, several arrays are read three times, and otherwise once.
TEST(CudaArrayPassesTest, AreFew) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  CaseArray array{{"Parts", ValueType::kFloat32, 600011, 40, -5.0f, 0.05}};
  auto const weights = RandomWeights(600011, 80);
  auto const copy = array.on_device(0);
  for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
    Cuts const expected = host::ComputeCuts(array.on_host(), w, 16, 2);
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{1}, std::size_t{24} << 20}) {
      for (RowSource const* source : std::initializer_list<RowSource const*>{&array.on_host(), &copy}) {
        ArraysSource const parts{*source, 70000};
        DeviceArena arena{"This test"};
        auto const found = cuda::FindQuantiles(parts, {16, w}, {0, 2, bytes}, &arena);
        EXPECT_EQ(Difference(found.cuts, expected), "") << bytes;
        EXPECT_EQ(parts.passes(), bytes == 0 ? 1 : 3) << bytes << " bytes" << (w.empty() ? "" : ", weights");
      }
    }
  }
}

// However little memory there is, dense and sparse data are read once to be counted, then three times at most, and once
// more for rows of weight 0.
TEST(CudaCountedPassesTest, AreFew) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (double const missing : {0.0, 0.9}) {
    MemorySource const rows{RandomValues({300000, 40, missing}, 79), 70000};
    auto const weights = RandomWeights(300000, 80);
    for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
      Cuts const expected = host::ComputeCuts(rows, w, 16, 2);
      for (std::size_t const bytes :
           {std::size_t{1}, std::size_t{8} << 20, std::size_t{24} << 20, std::size_t{64} << 20, std::size_t{0}}) {
        ReadSource const source{rows};
        DeviceArena arena{"This test"};
        auto const found = cuda::FindQuantiles(source, {16, w}, {0, 2, bytes}, &arena);
        EXPECT_EQ(Difference(found.cuts, expected), "") << bytes;
        EXPECT_LE(source.passes(), 1 + 3 + (w.empty() ? 0 : 1))
            << bytes << " bytes, " << missing << (w.empty() ? "" : ", weights");
      }
    }
  }
}

class CudaQuantileRuleTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  static void ExpectEqual(reference::Values const& values, std::vector<float> const& weights, int max_bin) {
    MemorySource const source{values};
    EXPECT_EQ(
        Difference(cuda::ComputeCuts(source, weights, max_bin, 0, 2), host::ComputeCuts(source, weights, max_bin, 2)),
        "")
        << "max_bin " << max_bin;
  }
};

TEST_F(CudaQuantileRuleTest, LongRunsOfEqualValues) {
  // Runs are as long as a power of two, and one more or less, so that every way to find their ends is taken. One value
  // lies in between.
  reference::Values values{0, 2};
  for (std::size_t run : {1U, 2U, 3U, 255U, 256U, 257U, 5000U, 1U, 4096U, 9000U, 1U, 1U, 70000U, 31U}) {
    for (std::size_t i = 0; i < run; ++i) {
      values.at.insert(values.at.end(), {static_cast<float>(values.rows - i), static_cast<float>(run)});
      ++values.rows;
    }
  }
  auto const weights = RandomWeights(values.rows, 73);
  for (int const max_bin : {2, 3, 7, 8, 9, 11, 12, 13, 64}) {
    ExpectEqual(values, {}, max_bin);
    ExpectEqual(values, weights, max_bin);
  }
}

TEST_F(CudaQuantileRuleTest, NumbersOfValuesAroundTheNumberOfBins) {
  for (std::size_t const levels : {14U, 15U, 16U, 17U, 18U, 19U}) {
    ExpectEqual(RandomValues({700, 3, 0.1, levels}, levels), {}, 16);
    ExpectEqual(RandomValues({700, 3, 0.1, levels}, levels), RandomWeights(700, levels), 16);
  }
  for (std::size_t const rows : {14U, 15U, 16U, 17U, 18U, 19U}) ExpectEqual(RandomValues({rows, 3}, rows), {}, 16);
}

TEST_F(CudaQuantileRuleTest, ExtremeValuesAndWeights) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  reference::Values values{6, 1};
  values.at = {kLargest, -kLargest, std::numeric_limits<float>::denorm_min(), 0.0f, -0.0f, 1.0f};
  for (int const max_bin : {2, 3, 16}) {
    ExpectEqual(values, {}, max_bin);
    ExpectEqual(values, {1e-38f, 3e38f, 1, 1e-45f, 0, 2}, max_bin);
    ExpectEqual(values, std::vector<float>(6, 0.0f), max_bin);
  }
}

TEST_F(CudaQuantileRuleTest, NoRowsAndNoColumns) {
  EXPECT_EQ(Difference(cuda::ComputeCuts(MemorySource{std::vector<std::vector<Entry>>{}, 3}, {}, 16, 0, 1),
                       host::ComputeCuts(MemorySource{std::vector<std::vector<Entry>>{}, 3}, {}, 16, 1)),
            "");
  MemorySource const no_columns{std::vector<std::vector<Entry>>(2), 0};
  EXPECT_EQ(Difference(cuda::ComputeCuts(no_columns, {}, 16, 0, 1), host::ComputeCuts(no_columns, {}, 16, 1)), "");
}

class CudaQuantileErrorTest : public CudaQuantileRuleTest {
 protected:
  /// Expects that the device's message is the host's.
  template <typename OnHost, typename OnDevice>
  static void ExpectSameError(OnHost&& on_host, OnDevice&& on_device) {
    std::string text;
    try {
      on_host();
    } catch (InvalidArgument const& e) {
      text = e.what();
    }
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(on_device, {text}), "");
  }
  static void ExpectSameError(RowSource const& source, std::vector<float> const& weights, int max_bin) {
    ExpectSameError([&] { host::ComputeCuts(source, weights, max_bin, 2); },
                    [&] { cuda::ComputeCuts(source, weights, max_bin, 0, 2); });
  }
};

TEST_F(CudaQuantileErrorTest, InfiniteValues) {
  for (double const missing : {0.0, 0.3, 0.8}) {
    for (float const bad : {1.0f, -1.0f}) {
      auto values = RandomValues({300, 4, missing}, 74);
      values(217, 2) = bad * std::numeric_limits<float>::infinity();
      ExpectSameError(MemorySource{values, 100}, {}, 16);
    }
  }
}

TEST_F(CudaQuantileErrorTest, FeaturesThatDoNotExist) {
  for (FeatureIndex const bad : {FeatureIndex{2}, ~FeatureIndex{0}}) {
    ExpectSameError(MemorySource{{{{0, 1.0f}}, {{bad, 1.0f}}}, 2}, {}, 16);                  // dense data
    ExpectSameError(MemorySource{{{{0, 1.0f}}, {{bad, 1.0f}}, {}, {}, {}, {}}, 2}, {}, 16);  // sparse data
  }
}

TEST_F(CudaQuantileErrorTest, WeightsAndMaxBin) {
  MemorySource const source{RandomValues({5, 2}, 75)};
  ExpectSameError(source, {1, 1}, 16);
  ExpectSameError(source, {1, 1, 1, -2, 1}, 16);
  ExpectSameError(source, {1, std::nanf(""), 1, 1, 1}, 16);
  ExpectSameError(source, {}, 1);
  ExpectSameError(source, {}, 65536);
}

TEST_F(CudaQuantileErrorTest, MoreEdgesThanBins) {
  constexpr std::size_t kEdges = 70001;
  reference::Values values{kEdges, 2};
  for (std::size_t r = 0; r < kEdges; ++r) values(r, 1) = static_cast<float>(r);
  MemorySource const source{values};
  ExpectSameError([&] { host::CutsFromBinEdges(source, 2); }, [&] { cuda::CutsFromBinEdges(source, 0, 2); });
}

}  // namespace
}  // namespace xgbgpu::testing
