// Matrices of shards have the cuts and the bins of one matrix of all rows, bit for bit, and number cells alike. Without
// a second device all shards lie on the first.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "matrix/lower_ends.h"
#include "matrix/matrix_cuda.h"
#include "matrix/shards_cuda.h"
#include "support/grow.h"
#include "user_arrays/array_case.h"
#include "user_arrays/data_case.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::testing {
namespace {

using Matrices = std::vector<std::unique_ptr<DeviceMatrix>>;

/// Returns shards of about the same size. They end at multiples of 2,048 rows where there are enough of them.
cuda::RowShards Deal(std::uint64_t rows, int shards) {
  std::uint64_t const unit = rows >= 2048 * static_cast<std::uint64_t>(shards) ? 2048 : 1;
  cuda::RowShards dealt{{0}, {}};
  for (int s = 1; s <= shards; ++s) {
    std::uint64_t const end = s == shards ? rows : rows * static_cast<std::uint64_t>(s) / shards / unit * unit;
    dealt.bounds.push_back(end);
    dealt.devices.push_back((s - 1) % CudaDeviceCount());
  }
  return dealt;
}

/// Numbers of shards from 1 to 4 of which each gets a row.
std::vector<int> NumbersOfShards(std::uint64_t rows) {
  std::vector<int> numbers;
  for (int n = 1; n <= 4 && static_cast<std::uint64_t>(n) <= rows; ++n) numbers.push_back(n);
  return numbers;
}

/// Rows of a matrix as the lower ends of their bins.
struct Ends {
  std::vector<std::uint64_t> offsets{0};  ///< [rows + 1]
  std::vector<Entry> entries;
};

Ends ReadEnds(DeviceMatrix const& matrix) {
  Ends ends;
  cuda::VisitLowerEnds(matrix, 0, matrix.view.rows, 2, [&](RowBatch const& batch) {
    for (std::uint64_t i = 0; i < batch.rows(); ++i) {
      ends.offsets.push_back(ends.offsets.back() + batch.row(i).size());
    }
    ends.entries.insert(ends.entries.end(), batch.entries.begin(), batch.entries.end());
  });
  return ends;
}

/// Are these the rows from `first` on of the whole?
bool AreRowsOf(Ends const& whole, std::uint64_t first, Ends const& own) {
  std::uint64_t const begin = whole.offsets[first];
  for (std::size_t i = 0; i < own.offsets.size(); ++i) {
    if (first + i >= whole.offsets.size() || own.offsets[i] != whole.offsets[first + i] - begin) return false;
  }
  return own.entries.size() == own.offsets.back() &&
         (own.entries.empty() ||
          std::memcmp(own.entries.data(), whole.entries.data() + begin, own.entries.size() * sizeof(Entry)) == 0);
}

bool SameTiles(std::vector<DeviceTile> const& a, std::vector<DeviceTile> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](DeviceTile const& s, DeviceTile const& t) {
    return s.first_cell == t.first_cell && s.bins == t.bins && s.symbols == t.symbols;
  });
}

template <typename T>
std::vector<T> Bring(T const* from, std::size_t n) {
  std::vector<T> to(n);
  CheckCuda(cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost), "reading a matrix back");
  return to;
}

/// A matrix of all rows on one device, and what it holds.
struct Whole {
  std::unique_ptr<DeviceMatrix> matrix;
  Ends ends;

  Whole(RowSource const& source, CutRequest const& wanted)
      : matrix{cuda::BuildMatrix(source, wanted, {0, 2})}, ends{ReadEnds(*matrix)} {}
};

/// Returns what differs first between the rows of a shard and those rows of `all`; empty if nothing does.
std::string Difference(DeviceMatrix const& shard, Whole const& all, std::uint64_t first, std::uint64_t rows) {
  DeviceMatrix const& whole = *all.matrix;
  DeviceMatrixView const &v = shard.view, &w = whole.view;
  if (!(shard.cuts == whole.cuts)) return "cuts";
  if (v.rows != rows || v.features != w.features) return "size";
  if (v.dense != w.dense || v.symbol_bytes != w.symbol_bytes || v.tile_columns != w.tile_columns) return "layout";
  if (v.tiles != w.tiles || v.cells != w.cells || !SameTiles(shard.tiles, whole.tiles)) return "cells";
  if (Bring(v.cut_ptr, shard.cuts.ptr.size()) != shard.cuts.ptr) return "cuts on the device";
  if (v.tile != nullptr && !SameTiles(Bring(v.tile, v.tiles), shard.tiles)) return "tiles on the device";
  Ends const own = ReadEnds(shard);
  if (own.entries.size() != shard.stored) return "number of values";
  return AreRowsOf(all.ends, first, own) ? "" : "bins";
}

void ExpectRowsOf(Whole const& whole, Matrices const& matrices, cuda::RowShards const& shards) {
  ASSERT_EQ(matrices.size(), shards.devices.size());
  std::uint64_t stored = 0;
  for (std::size_t s = 0; s < matrices.size(); ++s) {
    SCOPED_TRACE("shard " + std::to_string(s));
    ASSERT_EQ(matrices[s]->device, shards.devices[s]);
    std::uint64_t const first = shards.bounds[s];
    ASSERT_EQ(Difference(*matrices[s], whole, first, shards.bounds[s + 1] - first), "");
    stored += matrices[s]->stored;
  }
  ASSERT_EQ(stored, whole.matrix->stored);
}

/// Shards of `source`, with cuts that are found and with those of the whole, have what one device finds.
void ExpectShardsOf(RowSource const& source, CutRequest const& wanted, std::vector<std::size_t> const& memory) {
  Whole const whole{source, wanted};
  for (int const n : NumbersOfShards(source.rows())) {
    cuda::RowShards const shards = Deal(source.rows(), n);
    for (std::size_t const bytes : memory) {
      SCOPED_TRACE(::testing::Message() << n << " shards, max_bin " << wanted.max_bin
                                        << (wanted.weights.empty() ? "" : ", weights") << ", " << bytes << " bytes");
      cuda::ShardOptions const options{n == 3 ? 1 : 5, bytes};
      ASSERT_NO_FATAL_FAILURE(ExpectRowsOf(whole, cuda::BuildShards(source, wanted, shards, options), shards));
      SCOPED_TRACE("cuts that are given");
      ASSERT_NO_FATAL_FAILURE(
          ExpectRowsOf(whole, cuda::QuantiseShards(source, whole.matrix->cuts, shards, options), shards));
    }
  }
}

class CudaShardsTest : public ::testing::TestWithParam<DataCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaShardsTest, HaveTheRowsOfOneMatrix) {
  DataCase const& c = GetParam();
  auto const source = MakeSource(c, c.shape.rows / 3 + 1);
  auto const weights = RandomWeights(c.shape.rows, 81);
  bool const large = c.shape.rows * c.shape.features > 1000000;
  for (int const max_bin : {2, 256, 4096}) {
    if (large && max_bin == 2) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(source, {max_bin, {}}, {0}));
    ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(source, {max_bin, weights}, {0}));
  }
  if (large || c.shape.features > 100) return;  // a pass for each column takes its time
  ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(source, {64, {}}, {1, 3 * c.shape.rows * sizeof(float)}));
}

INSTANTIATE_TEST_SUITE_P(Data, CudaShardsTest, ::testing::ValuesIn(DataCases()), DataCaseName{});

class CudaArrayShardsTest : public ::testing::TestWithParam<ArrayCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaArrayShardsTest, HaveTheRowsOfOneMatrix) {
  ArrayCase const& c = GetParam();
  CaseArray array{c};
  auto const weights = RandomWeights(c.rows, 82);
  bool const wide = c.features > 100000;
  for (int const max_bin : {2, 256, 4096}) {
    if (wide && max_bin != 256) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(array.on_host(), {max_bin, {}}, {0}));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(array.on_host(), {256, weights}, {0}));
  if (!wide) {
    ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(array.on_host(), {16, {}}, {40 * c.rows * sizeof(float)}));
  }
  for (int device = 0; device < std::min(2, CudaDeviceCount()); ++device) {
    SCOPED_TRACE("the array is on device " + std::to_string(device));
    auto const copy = array.on_device(device);
    ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(copy, {256, {}}, {0}));
    ASSERT_NO_FATAL_FAILURE(ExpectShardsOf(ArraysSource{copy, c.rows / 3 + 1}, {256, weights}, {0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Arrays, CudaArrayShardsTest, ::testing::ValuesIn(ArrayCases()), ArrayCaseName{});

class CudaShardsRuleTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_F(CudaShardsRuleTest, AFeatureMissesValuesInOneShardOnly) {
  auto values = RandomValues({9000, 40}, 83);
  for (std::size_t r = 0; r < 100; ++r) values(r, 7) = reference::kMissing;       // of the first shard
  for (std::size_t r = 8192; r < 9000; ++r) values(r, 39) = reference::kMissing;  // and of the last
  for (std::size_t r = 0; r < 9000; ++r) values(r, 20) = r < 4096 ? 1.0f : reference::kMissing;
  ExpectShardsOf(MemorySource{values}, {256, {}}, {0, 1});
}

TEST_F(CudaShardsRuleTest, OneShardIsDenseAndTheOtherSparse) {
  for (double const missing : {0.2, 0.9}) {  // of the data as a whole they are mostly stored, or mostly not
    auto values = RandomValues({8192, 30, missing}, 84);
    for (std::size_t r = 0; r < 2048; ++r) {
      for (std::size_t f = 0; f < 30; ++f)
        values(r, f) = missing < 0.5 ? reference::kMissing : static_cast<float>(r % 97);
    }
    ExpectShardsOf(MemorySource{values}, {32, {}}, {0, 1});
  }
}

TEST_F(CudaShardsRuleTest, CategoriesOfOneShardAreBinsOfAll) {
  for (double const missing : {0.1, 0.8}) {
    auto values = RandomValues({9000, 12, missing}, 85);
    std::vector<GradientPair> gradients(9000);
    MakeCategories(&values, 3, 300, 86, &gradients);
    MakeCategories(&values, 11, 5, 87, &gradients);
    for (std::size_t r = 4096; r < 9000; ++r) {
      if (values(r, 3) > 40) values(r, 3) = 40;
    }
    MemorySource source{values};
    std::vector<std::uint8_t> categorical(12);
    categorical[3] = categorical[11] = 1;
    source.SetCategorical(categorical);
    ExpectShardsOf(source, {64, {}}, {0, 1});
  }
}

TEST_F(CudaShardsRuleTest, ColumnsOfThousandsOfCategoriesAreInTiles) {
  auto values = RandomValues({9000, 8}, 88);
  std::vector<GradientPair> gradients(9000);
  MakeCategories(&values, 2, 9000, 89, &gradients);
  MemorySource source{values};
  std::vector<std::uint8_t> categorical(8);
  categorical[2] = 1;
  source.SetCategorical(categorical);
  EXPECT_FALSE(cuda::BuildMatrix(source, {64, {}}, {0, 2})->view.dense);
  ExpectShardsOf(source, {64, {}}, {0});
}

TEST_F(CudaShardsRuleTest, BinEdgesAreFoundToo) {
  ExpectShardsOf(MemorySource{RandomValues({9000, 6, 0.1, 50}, 90)}, {0, {}}, {0});
  ExpectShardsOf(MemorySource{RandomValues({9000, 30, 0.8, 50}, 90)}, {0, {}}, {0});
}

/// Counts passes over batches.
class CountingSource final : public RowSource {
 public:
  explicit CountingSource(RowSource const& source) : source_{source} {}

  std::uint64_t rows() const override { return source_.rows(); }
  FeatureIndex features() const override { return source_.features(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    EXPECT_FALSE(busy_.exchange(true)) << "two threads read at the same time";
    ++passes_;
    source_.ForEachBatch(visit);
    busy_ = false;
  }
  int passes() const { return passes_; }

 private:
  RowSource const& source_;
  mutable std::atomic<int> passes_{0};
  mutable std::atomic<bool> busy_{false};
};

// What is read once for cuts serves for bins: the devices give each other columns. A first pass counts entries, and a
// last one takes the extreme values of rows of weight 0.
TEST_F(CudaShardsRuleTest, LongColumnsAreReadOnce) {
  MemorySource const source{RandomValues({200000, 5, 0.1}, 91), 30000};
  auto const weights = RandomWeights(200000, 92);
  for (Span<float const> const w : {Span<float const>{}, Span<float const>{weights}}) {
    for (int const n : {1, 2, 3}) {
      CountingSource const counting{source};
      cuda::BuildShards(counting, {256, w}, Deal(200000, n), {2});
      EXPECT_EQ(counting.passes(), 1 + n + (w.empty() ? 0 : 1));
    }
  }
  CountingSource const counting{source};
  cuda::BuildShards(counting, {256, {}}, Deal(200000, 2), {2, 1});
  EXPECT_GT(counting.passes(), 3);
}

TEST_F(CudaShardsRuleTest, ErrorsNameTheRowInTheSource) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (double const missing : {0.0, 0.8}) {
    auto values = RandomValues({9000, 4, missing}, 93);
    values(8500, 2) = kInfinity;
    MemorySource const source{values, 1000};
    for (std::size_t const bytes : {0, 1}) {
      EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                    [&] {
                      cuda::BuildShards(source, {16, {}}, Deal(9000, 4), {2, bytes});
                    },
                    {"row 8500, feature 2", "inf"}),
                "");
    }
  }
  MemorySource twice{RandomValues({9000, 3}, 94), 1000};
  twice.data()[8600] = {{1, 1.0f}, {0, 2.0f}, {1, 3.0f}};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  cuda::BuildShards(twice, {16, {}}, Deal(9000, 2), {2});
                },
                {"Row 8600", "feature 1", "more than once"}),
            "");
}

TEST_F(CudaShardsRuleTest, BoundsMustDivideTheRows) {
  MemorySource const source{RandomValues({100, 3}, 95)};
  for (cuda::RowShards const& bad : std::vector<cuda::RowShards>{{{0}, {}},
                                                                 {{0, 50}, {0}},
                                                                 {{1, 100}, {0}},
                                                                 {{0, 50, 100}, {0}},
                                                                 {{0, 50, 50, 100}, {0, 0, 0}},
                                                                 {{0, 101}, {0}}}) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] {
                    cuda::BuildShards(source, {16, {}}, bad, {2});
                  },
                  {"100 rows", std::to_string(bad.devices.size()) + " devices"}),
              "");
  }
  MemorySource const empty{std::vector<std::vector<Entry>>{}, 3};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  cuda::BuildShards(empty, {16, {}}, {{0, 0}, {0}}, {2});
                },
                {"0 rows"}),
            "");
}

std::vector<std::size_t> FreeMemory() {
  std::vector<std::size_t> free;
  for (int device = 0; device < CudaDeviceCount(); ++device) {
    DeviceScope const scope{device};
    std::size_t total = 0;
    free.push_back(0);
    CheckCuda(cudaMemGetInfo(&free.back(), &total), "asking for free memory");
  }
  return free;
}

/// The layout may be another one than that of the whole, but cells have the same numbers in all shards.
void ExpectSameBins(Whole const& whole, Matrices const& matrices, cuda::RowShards const& shards) {
  ASSERT_EQ(matrices.size(), shards.devices.size());
  for (std::size_t s = 0; s < matrices.size(); ++s) {
    ASSERT_EQ(matrices[s]->view.rows, shards.bounds[s + 1] - shards.bounds[s]);
    ASSERT_EQ(matrices[s]->view.cells, matrices[0]->view.cells);
    ASSERT_EQ(matrices[s]->view.dense, matrices[0]->view.dense);
    ASSERT_TRUE(matrices[s]->cuts == whole.matrix->cuts);
    ASSERT_TRUE(AreRowsOf(whole.ends, shards.bounds[s], ReadEnds(*matrices[s])));
  }
}

TEST_F(CudaShardsRuleTest, EveryAllocationMayFail) {
  struct Case {
    DataShape shape;
    int max_bin;
    bool weighted;
  };
  for (Case const& c : {Case{{200000, 3, 0.1}, 256, false},  // devices give each other columns
                        Case{{200000, 3}, 64, true}, Case{{9000, 6, 0.8}, 32, false},  // CSR
                        Case{{9000, 30, 0.8}, 32, false},                              // sparse in tiles
                        Case{{9000, 6}, 4096, false}}) {                               // dense data in tiles
    SCOPED_TRACE(::testing::Message() << c.shape.rows << " rows, " << c.shape.features << " columns, "
                                      << c.shape.missing << " missing, " << c.max_bin << " bins");
    MemorySource const source{RandomValues(c.shape, 96)};
    std::vector<float> const weights(c.weighted ? c.shape.rows : 0, 2.0f);
    Whole const whole{source, {c.max_bin, weights}};
    cuda::RowShards const shards = Deal(c.shape.rows, 2);
    auto const build = [&] { return cuda::BuildShards(source, {c.max_bin, weights}, shards, {2}); };
    FailDeviceAllocation(-1);
    build();
    std::int64_t const allocations = FailDeviceAllocation(-1);
    std::vector<std::size_t> before;
    for (int const round : {0, 1}) {  // in the first, kernels of every way are loaded, which takes memory
      for (std::int64_t n = 0; n < allocations; ++n) {
        SCOPED_TRACE("allocation " + std::to_string(n));
        FailDeviceAllocation(n);
        Matrices matrices;
        std::string const wrong = WhatIsWrong<OutOfDeviceMemory>(
            [&] { matrices = build(); }, {"bytes of GPU memory for", "are free on CUDA device", "gpu_backend=host"});
        FailDeviceAllocation(-1);
        if (matrices.empty()) {
          ASSERT_EQ(wrong, "");
        } else {  // in another way, and with another layout, perhaps
          ASSERT_NO_FATAL_FAILURE(ExpectSameBins(whole, matrices, shards));
        }
      }
      if (round == 0) before = FreeMemory();
    }
    EXPECT_EQ(FreeMemory(), before);
  }
}

// The two tests below need no device.

TEST(ShareColumnsTest, SharesAreEvenAndHaveAllColumns) {
  auto const ends = [](std::vector<ColumnRange> const& shares, FeatureIndex columns) {
    std::vector<FeatureIndex> result;
    FeatureIndex next = 0;
    for (ColumnRange const& share : shares) {
      EXPECT_EQ(share.first, next);
      EXPECT_EQ(share.features, columns);
      result.push_back(next = share.last);
    }
    return result;
  };
  using Numbers = std::vector<FeatureIndex>;
  EXPECT_EQ(ends(cuda::ShareColumns(13, {}, 2), 13), (Numbers{7, 13}));
  EXPECT_EQ(ends(cuda::ShareColumns(13, {}, 4), 13), (Numbers{3, 7, 10, 13}));
  EXPECT_EQ(ends(cuda::ShareColumns(5, {}, 1), 5), (Numbers{5}));
  EXPECT_EQ(ends(cuda::ShareColumns(1, {}, 3), 1).back(), 1U);
  std::vector<std::uint64_t> const sizes{90, 10, 10, 0, 60, 30};
  EXPECT_EQ(ends(cuda::ShareColumns(6, sizes, 2), 6), (Numbers{2, 6}));
  std::vector<std::uint64_t> const none(4);
  EXPECT_EQ(ends(cuda::ShareColumns(4, none, 3), 4).back(), 4U);
}

TEST(SharedLayoutTest, ComesFromAllRowsAndTheSmallestDevice) {
  Cuts cuts;
  cuts.ptr = {0};
  for (int f = 0; f < 10; ++f) cuts.ptr.push_back(cuts.ptr.back() + 256);
  LayoutFacts facts{10000, 100000, std::vector<std::uint8_t>(10), 5000, 50000, 227 << 10, std::size_t{1} << 30};
  DeviceLayout layout = ChooseDeviceLayout(cuts, facts);
  EXPECT_TRUE(layout.dense);
  EXPECT_EQ(layout.symbol_bytes, 1);
  facts.missing[3] = 1;  // in any shard
  facts.stored = 99999;
  EXPECT_EQ(ChooseDeviceLayout(cuts, facts).symbol_bytes, 2);
  facts.stored = 40000;
  layout = ChooseDeviceLayout(cuts, facts);
  EXPECT_FALSE(layout.dense);
  EXPECT_EQ(layout.cells, cuts.bins());
  EXPECT_EQ(layout.tile.size(), 1U);
  facts.block_bytes = 8 << 10;
  EXPECT_NE(ChooseDeviceLayout(cuts, facts).tile.size(), 1U);
}

TEST(ShardedDatasetTest, RowsAreReadBackAcrossShards) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase const c = RandomCase({7000, 3, 0.2}, 401);
  MemorySource const source{c.values};
  std::vector<std::shared_ptr<Dataset const>> sets;
  for (int const devices : {1, 3}) {
    Place place{BackendKind::kCuda};
    place.devices = devices;
    sets.push_back(Dataset::Build(source, {}, 64, 2, place));
    ASSERT_EQ(sets.back()->devices(), devices);
  }
  for (auto const& [first, count] : {std::pair<std::uint64_t, std::uint64_t>{0, 7000}, {2000, 4500}, {5000, 1}}) {
    std::vector<Entry> entries[2];
    for (std::size_t s = 0; s < 2; ++s) {
      std::uint64_t next = 0;
      sets[s]->VisitLowerEnds(first, count, 2, [&](RowBatch const& batch) {
        EXPECT_EQ(batch.first_row, next);
        next += batch.rows();
        entries[s].insert(entries[s].end(), batch.entries.begin(), batch.entries.end());
      });
      EXPECT_EQ(next, count);
    }
    ASSERT_EQ(entries[1].size(), entries[0].size());
    EXPECT_EQ(std::memcmp(entries[1].data(), entries[0].data(), entries[0].size() * sizeof(Entry)), 0);
  }
}

}  // namespace
}  // namespace xgbgpu::testing
