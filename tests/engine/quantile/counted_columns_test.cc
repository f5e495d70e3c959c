// counted columns: the cuts of counted keys are those of sorted columns, bit for bit, in any memory.
#include "quantile/counted_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/float_bits.h"
#include "collective/in_process.h"
#include "core/row_slice.h"
#include "quantile/key_counter_host.h"
#include "quantile/quantile.h"
#include "support/data.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/error.h"
#include "xgbgpu/params.h"

namespace xgbgpu {
namespace {

using reference::kMissing;
using reference::Values;
using testing::MemorySource;
using testing::Random;
using testing::RandomValues;
using testing::ReadSource;
using testing::WhatIsWrong;

constexpr std::size_t kPlenty = std::size_t{1} << 30;

/// A way to choose a value of a column.
float RandomValue(std::size_t kind, std::size_t levels, Random* random) {
  float const level = static_cast<float>(random->Below(levels));
  switch (kind) {
    case 0:
      return random->Between(-1, 1) * random->Between(0, 1);
    case 1:  // few values
      return level - static_cast<float>(levels / 2);
    case 2:  // most rows have the same value
      return random->Below(10) == 0 ? random->Between(-3, 3) : 0.0f;
    case 3:  // neighbouring floats: their keys differ in the last digit alone, or nearly so
      return FloatFromBits(0x3F800000U + static_cast<std::uint32_t>(random->Below(3 * levels)));
    case 4:  // their keys differ in the second digit alone
      return FloatFromBits(0xC1800000U + (static_cast<std::uint32_t>(random->Below(levels)) << 10));
    case 5:  // denormal numbers and zeros of both signs
      return FloatFromBits(static_cast<std::uint32_t>(random->Below(levels)) |
                           (random->Below(2) == 0 ? 0x80000000U : 0U));
    case 6: {  // any float
      float const any = FloatFromBits(static_cast<std::uint32_t>(random->Bits()));
      return std::isfinite(any) ? any : std::numeric_limits<float>::max();
    }
    default:  // huge numbers
      return (random->Below(2) == 0 ? 1.0f : -1.0f) * std::numeric_limits<float>::max() / (1.0f + level);
  }
}

constexpr std::size_t kKinds = 8;

/// Returns columns of all kinds, `missing` of them missing.
Values ColumnsOfAllKinds(std::size_t rows, std::size_t columns, std::size_t levels, float missing, Random* random) {
  Values values{rows, columns};
  std::size_t const first = random->Below(kKinds);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t f = 0; f < columns; ++f) {
      float const value = RandomValue((first + f) % kKinds, levels, random);
      if (random->Uniform() >= missing) values(r, f) = value;
    }
  }
  return values;
}

/// Returns no weights; weights of which a fourth is 0; or some that are nothing beside others; or zeros alone.
std::vector<float> RandomWeights(std::size_t kind, std::size_t rows, Random* random) {
  if (kind == 0) return {};
  std::vector<float> weights(rows);
  for (float& weight : weights) {
    bool const rare = random->Below(4) == 0;
    if (kind == 1) weight = rare ? 0.0f : random->Uniform() * 3;
    if (kind == 2) weight = rare ? 1e-42f : random->Below(9) == 0 ? 1e30f : random->Uniform();
  }
  return weights;
}

TEST(CountedCutsTest, AreThoseOfSortedColumnsForRandomData) {
  Random random{901};
  for (int trial = 0; trial < 160; ++trial) {
    std::size_t const rows = 1 + random.Below(trial % 4 == 0 ? 8 : 600), columns = 1 + random.Below(9);
    int const max_bin = 2 + static_cast<int>(random.Below(trial % 3 == 0 ? 6 : 300));
    std::size_t const levels = 1 + random.Below(static_cast<std::size_t>(max_bin) + 4);
    auto const values = ColumnsOfAllKinds(rows, columns, levels, random.Below(2) == 0 ? 0 : random.Uniform(), &random);
    auto const weights = RandomWeights(random.Below(4), rows, &random);
    MemorySource const source{values, random.Below(rows + 1)};
    std::size_t const memory = std::size_t{1} << (13 + random.Below(12));
    int const threads = trial % 4 == 1 ? 3 : 1;
    ASSERT_EQ(host::ComputeCutsByCounting(source, weights, max_bin, threads, memory),
              host::ComputeCuts(source, weights, max_bin, 1))
        << "trial " << trial << ", max_bin " << max_bin << ", " << memory << " bytes";
  }
}

// A column with as many distinct values as bins, and one or two more, at any place of the keys where they may differ.
TEST(CountedCutsTest, AsManyDistinctValuesAsBinsAndAFewMore) {
  for (std::size_t const bins : {2U, 3U, 16U, 256U, 4500U}) {
    for (std::uint32_t const step : {1U, 1U << 4, 1U << 10, 1U << 13}) {
      std::vector<std::size_t> const distinct = {1, 2, 3, bins - 1, bins, bins + 1, bins + 2, bins + 3, 2 * bins};
      Values values{2 * bins + 1, distinct.size()};
      for (std::size_t r = 0; r < values.rows; ++r) {
        for (std::size_t f = 0; f < values.features; ++f) {
          if (r < 2 * distinct[f]) {
            values(r, f) = FloatFromBits(0x20000000U + step * static_cast<std::uint32_t>(r % distinct[f]));
          }
        }
      }
      MemorySource const source{values};
      for (auto const& weights : {std::vector<float>{}, std::vector<float>(values.rows, 0.3f)}) {
        ASSERT_EQ(host::ComputeCutsByCounting(source, weights, static_cast<int>(bins), 2, kPlenty),
                  host::ComputeCuts(source, weights, static_cast<int>(bins), 2))
            << bins << " bins, step " << step;
      }
    }
  }
}

TEST(CountedCutsTest, AreThoseOfSortedColumnsForAnyMaxBin) {
  Random random{902};
  auto const values = ColumnsOfAllKinds(6001, kKinds / 2, 3000, 0.1f, &random);
  MemorySource const source{values, 900};
  for (std::size_t const kind : {0U, 1U, 2U}) {
    auto const weights = RandomWeights(kind, values.rows, &random);
    for (int const max_bin : {2, 3, 64, 256, 1000, 4095, 4096, 4097, kMaxBinLimit}) {
      ASSERT_EQ(host::ComputeCutsByCounting(source, weights, max_bin, 2, kPlenty),
                host::ComputeCuts(source, weights, max_bin, 2))
          << "max_bin " << max_bin << ", weights " << kind;
    }
  }
}

TEST(CountedCutsTest, NoRowsNoColumnsNoValuesNoWeight) {
  std::vector<std::vector<Entry>> const no_rows;
  std::vector<float> const zeros(10, 0.0f);
  EXPECT_EQ(host::ComputeCutsByCounting(MemorySource{no_rows, 3}, {}, 16, 2, kPlenty),
            host::ComputeCuts(MemorySource{no_rows, 3}, {}, 16, 2));
  EXPECT_EQ(host::ComputeCutsByCounting(MemorySource{std::vector<std::vector<Entry>>(2), 0}, {}, 16, 2, kPlenty).bins(),
            0U);
  EXPECT_EQ(host::ComputeCutsByCounting(MemorySource{Values{10, 2}}, {}, 16, 2, kPlenty),
            host::ComputeCuts(MemorySource{Values{10, 2}}, {}, 16, 2));
  MemorySource const source{RandomValues({10, 2}, 903)};
  EXPECT_EQ(host::ComputeCutsByCounting(source, zeros, 16, 2, kPlenty), host::ComputeCuts(source, zeros, 16, 2));
}

TEST(CountedCutsTest, OfBinEdges) {
  Random random{904};
  for (std::size_t const rows : {1U, 9U, 800U}) {
    MemorySource const source{ColumnsOfAllKinds(rows, kKinds, 90, 0.2f, &random), 50};
    for (std::size_t const memory : {std::size_t{1} << 16, kPlenty}) {
      EXPECT_EQ(host::CutsFromBinEdgesByCounting(source, 3, memory), host::CutsFromBinEdges(source, 1));
    }
  }
  Values values{kMaxBinLimit + std::size_t{1}, 2};
  for (std::size_t r = 0; r < values.rows; ++r) values(r, 1) = static_cast<float>(r);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { host::CutsFromBinEdgesByCounting(MemorySource{values}, 2, kPlenty); },
                                         {"feature 1", "more than 65535"}),
            "");
  values(7, 1) = kMissing;
  EXPECT_EQ(host::CutsFromBinEdgesByCounting(MemorySource{values}, 2, kPlenty),
            host::CutsFromBinEdges(MemorySource{values}, 2));
}

// Passes and memory

TEST(CountedPassesTest, ThreeIfTheCountersFit) {
  Random random{905};
  for (std::size_t const levels : {2U, 900U}) {
    MemorySource const rows{ColumnsOfAllKinds(2000, 20, levels, 0.1f, &random), 300};
    auto const weights = RandomWeights(1, 2000, &random);
    ASSERT_NE(std::find(weights.begin(), weights.end(), 0.0f), weights.end());
    for (int const max_bin : {2, 256}) {
      for (auto const& w : {std::vector<float>{}, weights}) {
        ReadSource const source{rows};
        host::ComputeCutsByCounting(source, w, max_bin, 2, kPlenty);
        int const of_rows_without_weight = w.empty() ? 0 : 1;
        EXPECT_EQ(source.passes(), 3 + of_rows_without_weight) << levels << " levels, max_bin " << max_bin;
      }
    }
  }
}

TEST(CountedPassesTest, OneMoreForCategories) {
  Random random{906};
  auto values = RandomValues({500, 3}, 907);
  for (std::size_t r = 0; r < values.rows; ++r) values(r, 1) = static_cast<float>(random.Below(70));
  MemorySource rows{values};
  rows.SetCategorical({0, 1, 0});
  ReadSource const source{rows};
  EXPECT_EQ(host::ComputeCutsByCounting(source, {}, 16, 2, kPlenty), host::ComputeCuts(rows, {}, 16, 2));
  EXPECT_EQ(source.passes(), 4);
}

TEST(CountedPassesTest, AColumnOrAPrefixAtATimeIfNoMoreFits) {
  auto const values = RandomValues({60, 5}, 908);  // none is equal to another
  MemorySource const rows{values, 7};
  ReadSource const source{rows};
  EXPECT_EQ(host::ComputeCutsByCounting(source, {}, 8, 1, 1), host::ComputeCuts(rows, {}, 8, 2));
  EXPECT_GT(source.passes(), 5 + 5 + 5 * 5);  // columns, their first prefixes, more of these
  auto const counter = host::MakeKeyCounter(rows, {{}, 1.0}, 2, 1);
  EXPECT_LE(source.passes(), static_cast<int>(MostCountingPasses(5, 300, 8, *counter)));
}

TEST(CountedPassesTest, AreBoundedByColumnsAndValuesAndPrefixes) {
  MemorySource const rows{RandomValues({10, 3}, 909)};
  constexpr std::size_t kBytes = 1 << 20;
  auto const counter = host::MakeKeyCounter(rows, {{}, 1.0}, 2, kBytes);
  std::size_t const columns = counter->most_prefixes(kKeyDigits[0]), prefixes = counter->most_prefixes(kKeyDigits[1]);
  EXPECT_EQ(columns, kBytes / (4096 * 4 + 8 + 2 * sizeof(KeyEnds)));
  EXPECT_EQ(prefixes, kBytes / (1024 * 4 + 8));
  EXPECT_EQ(counter->most_prefixes(kKeyDigits[2]), prefixes);
  EXPECT_EQ(MostCountingPasses(3, 30, 256, *counter), 3U);
  EXPECT_EQ(MostCountingPasses(columns + 1, 30, 256, *counter), 4U);
  EXPECT_EQ(MostCountingPasses(1, prefixes + 1, 10 * static_cast<int>(prefixes), *counter), 5U);
  // max_bin + 1 prefixes of each digit but the first
  EXPECT_EQ(MostCountingPasses(1, kPlenty, static_cast<int>(prefixes) - 1, *counter), 3U);
  EXPECT_EQ(MostCountingPasses(1, kPlenty, static_cast<int>(prefixes), *counter), 5U);
  EXPECT_EQ(MostCountingPasses(7, kPlenty, 0, *counter), MostCountingPasses(7, kPlenty, 256, *counter));
  auto const weighted = host::MakeKeyCounter(rows, {std::vector<float>(10), 1.0}, 2, kBytes);
  EXPECT_EQ(weighted->most_prefixes(kKeyDigits[1]), kBytes / (1024 * 8 + 8));
}

// The choice

struct Found {
  Cuts cuts;
  int passes;
};

Found FindIn(RowSource const& rows, std::vector<float> const& weights, int max_bin, std::size_t memory) {
  ReadSource const source{rows};
  Cuts cuts = host::ComputeCuts(source, weights, max_bin, 2, NoOtherShards(), memory);
  return {std::move(cuts), source.passes()};
}

TEST(CutsInMemoryTest, ColumnsThatFitAtOnceAreSorted) {
  MemorySource const rows{RandomValues({2000, 20}, 913), 300};
  std::size_t const all = 2000 * 20 * 4;
  EXPECT_EQ(FindIn(rows, {}, 64, 2 * all).passes, 2);  // sizes, then values
  // With weights a value takes twice as much; then there are three groups.
  std::vector<float> const weights(2000, 0.5f);
  EXPECT_EQ(FindIn(rows, weights, 64, 2 * all + (std::size_t{1} << 15)).passes, 2);
  EXPECT_EQ(FindIn(rows, weights, 64, all).passes, 4);
}

TEST(CutsInMemoryTest, ShardsThatSortKeepAGroup) {
  MemorySource const rows{RandomValues({2000, 20}, 913), 300};
  RunShards(2, [&](Collective& collective) {
    ReadSource const source{rows};
    RowSlice const nothing{rows, 0, 0};
    bool const has_rows = collective.shard() == 0;
    host::ComputeCuts(has_rows ? static_cast<RowSource const&>(source) : nothing, {}, 64, 2, collective,
                      2 * 2000 * 20 * 4);
    EXPECT_EQ(source.passes(), has_rows ? 4 : 0);  // three groups
  });
}

TEST(CutsInMemoryTest, LongColumnsAreCounted) {
  MemorySource const rows{RandomValues({100000, 6}, 914), 30000};
  std::vector<float> const weights(100000, 0.5f);
  Cuts const expected = host::ComputeCuts(rows, {}, 16, 2);
  for (std::size_t const memory : {430000U, 500000U, 1000000U}) {  // a column takes 400,000, and 800,000 to be sorted
    Found const found = FindIn(rows, {}, 16, memory);
    EXPECT_EQ(found.passes, 3) << memory;
    EXPECT_EQ(found.cuts, expected);
  }
  EXPECT_EQ(FindIn(rows, weights, 16, 1000000).cuts, expected);
  EXPECT_EQ(FindIn(rows, weights, 16, 1000000).passes, 3);
}

TEST(CutsInMemoryTest, ManyShortColumnsAreSortedGroupByGroup) {
  MemorySource const rows{RandomValues({50, 300}, 915), 20};
  Found const found = FindIn(rows, {}, 256, 20000);
  EXPECT_EQ(found.cuts, host::ComputeCuts(rows, {}, 256, 2));
  EXPECT_GT(found.passes, 3);
  EXPECT_LT(found.passes, 10);  // counters of all columns would take 300 passes
}

TEST(CutsInMemoryTest, HowFullColumnsAreIsAskedWhereItMatters) {
  // Each of 400 columns has values in 1 % of the rows.
  MemorySource const rows{RandomValues({5000, 400, 0.99}, 916), 1000};
  Found const found = FindIn(rows, {}, 256, 100000);
  EXPECT_EQ(found.cuts, host::ComputeCuts(rows, {}, 256, 2));
  EXPECT_EQ(found.passes, 2);
}

TEST(CutsInMemoryTest, OfBinEdges) {
  Random random{917};
  auto values = RandomValues({100000, 6}, 918);
  for (float& value : values.at) value = static_cast<float>(random.Below(20));
  MemorySource const rows{values, 30000};
  for (std::size_t const memory : {std::size_t{700000}, kPlenty}) {
    ReadSource const source{rows};
    EXPECT_EQ(host::CutsFromBinEdges(source, 2, NoOtherShards(), memory), host::CutsFromBinEdges(rows, 2));
    EXPECT_EQ(source.passes(), memory == kPlenty ? 2 : 4);  // 256 bins each might not fit; 20 do
  }
}

TEST(CutsInMemoryTest, ShardsDecideTogether) {
  MemorySource const rows{RandomValues({60000, 6, 0.1}, 919), 9000};
  Cuts const expected = host::ComputeCuts(rows, {}, 8, 2);
  for (std::size_t const memory : {std::size_t{1} << 18, std::size_t{1} << 19, std::size_t{1} << 21, kPlenty}) {
    RunShards(3, [&](Collective& collective) {
      std::uint64_t const s = static_cast<std::uint64_t>(collective.shard()), begin = s * 10000;
      RowSlice const slice{rows, begin, s == 2 ? 40000U : 10000U};
      ReadSource const own{slice};
      EXPECT_EQ(host::ComputeCuts(own, {}, 8, 2, collective, memory * (s + 1)), expected) << memory;
      EXPECT_LE(own.passes(), 3) << memory;
    });
  }
}

TEST(CutsInMemoryTest, AShardWithoutALimitLeavesItToTheOthers) {
  MemorySource const rows{RandomValues({60000, 6, 0.1}, 919), 9000};
  Cuts const expected = host::ComputeCuts(rows, {}, 8, 2);
  for (int const limited : {0, 1, 2}) {  // 2: no shard
    RunShards(2, [&](Collective& collective) {
      RowSlice const slice{rows, collective.shard() == 0 ? 0U : 30000U, 30000};
      ReadSource const own{slice};
      std::size_t const memory = collective.shard() == limited ? std::size_t{1} << 18 : 0;
      EXPECT_EQ(host::ComputeCuts(own, {}, 8, 2, collective, memory), expected);
      EXPECT_EQ(own.passes(), limited == 2 ? 2 : 3);
    });
  }
}

TEST(CutsInMemoryTest, NoMoreColumnsAreSortedAtATimeThanThereIsRoomFor) {
  MemorySource const rows{RandomValues({20, 60}, 920)};
  std::mutex mutex;
  std::set<std::thread::id> sorters;
  host::SortWorkspace workspace;
  workspace.columns = 1;
  host::ForEachSortedColumn(
      rows, {{}, 1.0}, 3, NoOtherShards(),
      [&](host::SortedColumn const&) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        std::lock_guard<std::mutex> const lock{mutex};
        sorters.insert(std::this_thread::get_id());
      },
      {}, workspace);
  EXPECT_EQ(sorters.size(), 1U);
}

// Counters

TEST(KeyCounterTest, CountsWhatBeginsWithThePrefixes) {
  Values values{6, 2};
  auto const value = [](std::uint32_t key) { return ValueOfKey(key); };
  values.at = {value(0x80000000), value(0x91234567), value(0x80000001), value(0x91234567), value(0x80000401), kMissing,
               value(0x7FF00000), value(0x91234000), value(0x80000001), value(0x91234001), value(0x80000002), kMissing};
  std::vector<float> const weights = {1, 2, 4, 8, 16, 0};
  MemorySource const source{values, 4};
  auto const counter = host::MakeKeyCounter(source, {weights, 1.0}, 3, kPlenty);
  counter->Count(kKeyDigits[0], std::vector<CountedPrefix>{{0, 0}, {1, 0}});
  std::vector<std::int64_t> counts(2 * 4096);
  counter->Read(0, counts);
  std::vector<std::int64_t> expected(2 * 4096);
  expected[0x800] = 1 + 2 + 4 + 16;
  expected[0x7FF] = 8;
  expected[4096 + 0x912] = 1 + 2 + 8 + 16;
  EXPECT_EQ(counts, expected);
  auto const ends = counter->Ends();
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].values, 6U);
  EXPECT_EQ(ends[0].first, 0x7FF00000U);
  EXPECT_EQ(ends[0].first_weight, 8);
  EXPECT_EQ(ends[0].last, 0x80000401U);
  EXPECT_EQ(ends[0].last_weight, 4);
  EXPECT_EQ(ends[1].values, 4U);
  EXPECT_EQ(ends[1].last_weight, 1 + 2);

  counter->Count(kKeyDigits[2], std::vector<CountedPrefix>{{0, 0x80000000 >> 10}, {1, 0x91234000 >> 10}});
  counts.assign(3, 0);
  counter->Read(0, counts);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 2 + 16, 0}));
  counter->Read(1024, counts);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{8, 16, 0}));
}

TEST(KeyCounterTest, EndsAreJoined) {
  KeyEnds all, other;
  for (std::uint32_t const key : {5U, 3U, 3U, 9U}) all.Add(key, 10);
  for (std::uint32_t const key : {3U, 12U}) other.Add(key, 1);
  all.Join(KeyEnds{});
  all.Join(other);
  EXPECT_EQ(all.first, 3U);
  EXPECT_EQ(all.first_weight, 21);
  EXPECT_EQ(all.last, 12U);
  EXPECT_EQ(all.last_weight, 1);
  EXPECT_TRUE(KeyEnds{}.empty());
  EXPECT_FALSE(all.empty());
}

// Sources

TEST(CountedSourcesTest, ArraysOfAllTypes) {
  Random random{910};
  constexpr std::size_t kRows = 1003, kColumns = 21;
  std::vector<std::uint8_t> bytes(kRows * kColumns * sizeof(float));
  for (ValueType const type :
       {ValueType::kFloat32, ValueType::kInt8, ValueType::kUInt8, ValueType::kInt16, ValueType::kUInt16}) {
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.Bits());
    if (type == ValueType::kFloat32) {
      auto const values = ColumnsOfAllKinds(kRows, kColumns, 300, 0.1f, &random);
      std::memcpy(bytes.data(), values.at.data(), bytes.size());
    }
    for (float const mark : {kMissing, 0.0f, 3.0f}) {
      ArraySource const source{{bytes.data(), type, mark}, kRows, kColumns, 2};
      for (std::size_t const kind : {0U, 1U}) {
        auto const weights = RandomWeights(kind, kRows, &random);
        for (std::size_t const memory : {std::size_t{1} << 17, kPlenty}) {
          EXPECT_EQ(host::ComputeCutsByCounting(source, weights, 64, 3, memory),
                    host::ComputeCuts(source, weights, 64, 2))
              << "type " << static_cast<int>(type) << ", missing " << mark << ", " << memory << " bytes";
        }
      }
    }
  }
}

TEST(CountedSourcesTest, Shards) {
  Random random{911};
  for (std::size_t const rows : {1U, 40U, 1500U}) {
    auto const values = ColumnsOfAllKinds(rows, kKinds, 40, 0.3f, &random);
    MemorySource const source{values, 100};
    for (std::size_t const kind : {0U, 1U, 2U, 3U}) {
      auto const weights = RandomWeights(kind, rows, &random);
      for (int const max_bin : {2, 38, 39, 40}) {
        Cuts const expected = host::ComputeCuts(source, weights, max_bin, 2), edges = host::CutsFromBinEdges(source, 2);
        for (int const shards : {2, 3, 7}) {
          RunShards(shards, [&](Collective& collective) {
            auto const n = static_cast<std::uint64_t>(shards), s = static_cast<std::uint64_t>(collective.shard());
            std::uint64_t const begin = rows * s * s / (n * n), end = rows * (s + 1) * (s + 1) / (n * n);
            RowSlice const own{source, begin, end - begin};
            Span<float const> const own_weights =
                weights.empty() ? Span<float const>{} : Span<float const>{weights}.subspan(begin, end - begin);
            // Shards have different amounts of memory.
            std::size_t const memory = (std::size_t{1} << 18) * (1 + s);
            EXPECT_EQ(host::ComputeCutsByCounting(own, own_weights, max_bin, 2, memory, collective), expected);
            if (rows < 100) {
              EXPECT_EQ(host::CutsFromBinEdgesByCounting(own, 2, memory, collective), edges);
            }
          });
        }
      }
    }
  }
}

// Errors

TEST(CountedErrorsTest, AreThoseOfSortedColumns) {
  auto const same = [](RowSource const& source, std::vector<float> const& weights, int max_bin) {
    std::string text;
    try {
      host::ComputeCuts(source, weights, max_bin, 2);
    } catch (InvalidArgument const& e) {
      text = e.what();
    }
    EXPECT_NE(text, "");
    EXPECT_EQ(
        WhatIsWrong<InvalidArgument>([&] { host::ComputeCutsByCounting(source, weights, max_bin, 2, 1); }, {text}), "");
  };
  auto values = RandomValues({30, 4}, 912);
  MemorySource const well{values};
  values(17, 2) = -std::numeric_limits<float>::infinity();
  same(MemorySource{values, 4}, {}, 16);
  same(MemorySource{{{{0, 1.0f}}, {{2, 1.0f}}}, 2}, {}, 16);
  same(MemorySource{{{{0, 1.0f}}, {{~FeatureIndex{0}, 1.0f}}}, 2}, {}, 16);
  same(well, {1, 1}, 16);
  same(well, std::vector<float>(30, -2.0f), 16);
  same(well, {}, 1);
  same(well, {}, 65536);
}

}  // namespace
}  // namespace xgbgpu
