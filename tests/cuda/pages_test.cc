// Trees on pages of bins: the same bits as in core, wherever pages lie, over the generated matrix of settings.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "array_case.h"
#include "core/device.h"
#include "driver/backend.h"
#include "equality_case.h"
#include "matrix/lower_ends.h"
#include "matrix/page_stream_cuda.h"
#include "matrix/paged_bins_cuda.h"
#include "matrix/paged_builder_cuda.h"
#include "matrix/shards_cuda.h"
#include "quantile/quantile.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// Code that is loaded when it is first used waits for all that the device does, and devices wait for each other.
[[maybe_unused]] int const kLoadsFirst = setenv("CUDA_MODULE_LOADING", "EAGER", 1);

/// A policy under which everything is in pages of 2,048 rows.
cuda::PagePolicy SmallPages(double kept_share) {
  cuda::PagePolicy policy;
  policy.page_bytes = policy.least_page_bytes = 1;
  policy.other_bytes = std::size_t{1} << 40;
  policy.kept_share = kept_share;
  return policy;
}

/// Pages are in pinned memory, or, from the first byte on, in a file.
MemoryLimits Limits(bool in_file) {
  MemoryLimits limits;
  limits.training_bytes = std::uint64_t{4} << 30;
  limits.host_bytes = in_file ? 1 : std::uint64_t{1} << 30;
  return limits;
}

std::shared_ptr<DeviceMatrix const> PagedMatrix(RowSource const& rows, int max_bin, int threads,
                                                MemoryLimits const& limits, cuda::PagePolicy const& policy) {
  DeviceScope const scope{0};
  return cuda::BuildMatrixWithin(rows, {max_bin, {}}, {0, threads}, limits, policy);
}

std::vector<std::uint32_t> Bits(std::vector<float> const& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

struct Side {
  std::unique_ptr<TreeBuilder> builder;
  Tree tree{};
  std::vector<float> margins{};
  std::vector<NodeIndex> positions{};
  std::vector<std::uint8_t> sampled_out{};

  void GrowOne(EqualityCase const& c, std::vector<GradientPair> const& gradients, TreeKey key) {
    margins.resize(c.rows * c.stride);
    positions.resize(c.rows);
    sampled_out.resize(c.rows);
    tree = builder->Grow(c.params, gradients, key);
    builder->LeafPositions(positions, sampled_out);
    builder->AddLeafValues(tree.leaf_value, margins.data(), c.stride);
  }
};

class PagesTest : public ::testing::TestWithParam<EqualityCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(PagesTest, SameModelAsInCore) {
  EqualityCase const& c = GetParam();
  int const threads = omp_get_max_threads();
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, threads);
  CaseLoss const loss{c, rows};
  double const kept[] = {0, 0.5, 1};
  auto const paged = PagedMatrix(rows, c.max_bin, threads, Limits(c.number % 2 == 1), SmallPages(kept[c.number % 3]));
  ASSERT_NE(paged->pages, nullptr);
  ASSERT_EQ(paged->pages->pages().size(), (c.rows + 2047) / 2048);
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{MakeCudaTreeBuilder(paged, threads)};
  host.margins.resize(c.rows * c.stride);
  for (std::uint32_t t = 0; t < 3; ++t) {
    auto const gradients = loss.Gradients(host.margins);
    host.GrowOne(c, gradients, {t / 2, t % 2});
    cuda.GrowOne(c, gradients, {t / 2, t % 2});
    ASSERT_EQ(cuda.tree, host.tree) << "tree " << t;
    ASSERT_EQ(cuda.positions, host.positions) << "tree " << t;
    ASSERT_EQ(cuda.sampled_out, host.sampled_out) << "tree " << t;
    ASSERT_EQ(Bits(cuda.margins), Bits(host.margins)) << "tree " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, PagesTest, ::testing::ValuesIn(EqualityCases()),
                         [](auto const& test) { return NameOf(test.param); });

/// Settings of data that several shards have rows of.
std::vector<EqualityCase> CasesOfShards() {
  std::vector<EqualityCase> cases;
  for (EqualityCase const& c : EqualityCases()) {
    if (c.rows >= 5000 && c.number % 5 == 0) cases.push_back(c);
  }
  return cases;
}

class PagedShardsTest : public ::testing::TestWithParam<EqualityCase> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    // The host waits for a device between pages, and keeps another shard of the same device from going on.
    if (CudaDeviceCount() < 2) GTEST_SKIP() << "pages of shards need a device for each";
  }
};

// Each of two devices pages its own rows.
TEST_P(PagedShardsTest, SameTreesAsInCore) {
  EqualityCase const& c = GetParam();
  int const threads = omp_get_max_threads();
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, threads);
  CaseLoss const loss{c, rows};
  cuda::RowShards shards{DealRows(c.rows, 2), {0, 1}};
  shards.devices.resize(shards.bounds.size() - 1);
  auto built = cuda::BuildShards(rows, {c.max_bin, {}}, shards, {threads, 0, Limits(false), SmallPages(0.5)});
  std::vector<std::shared_ptr<DeviceMatrix const>> matrices;
  for (auto& part : built) {
    ASSERT_NE(part->pages, nullptr);
    matrices.push_back(std::move(part));
  }
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{MakeCudaTreeBuilder(matrices, threads)};
  host.margins.resize(c.rows * c.stride);
  for (std::uint32_t t = 0; t < 2; ++t) {
    auto const gradients = loss.Gradients(host.margins);
    host.GrowOne(c, gradients, {t, 0});
    cuda.GrowOne(c, gradients, {t, 0});
    ASSERT_EQ(cuda.tree, host.tree) << "tree " << t;
    ASSERT_EQ(cuda.positions, host.positions) << "tree " << t;
    ASSERT_EQ(Bits(cuda.margins), Bits(host.margins)) << "tree " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, PagedShardsTest, ::testing::ValuesIn(CasesOfShards()),
                         [](auto const& test) { return NameOf(test.param); });

class PagedDataTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

// Bins that are packed to 1 to 16 bits, and sparse ones, read back.
/// Returns numbers of values and values of some rows of a matrix.
std::pair<std::vector<std::uint64_t>, std::vector<std::uint32_t>> ReadBack(DeviceMatrix const& matrix, int threads) {
  std::vector<std::uint64_t> sizes;
  std::vector<float> values;
  cuda::VisitLowerEnds(matrix, 1000, 3500, threads, [&](RowBatch const& batch) {
    for (std::uint64_t r = 0; r < batch.rows(); ++r) {
      sizes.push_back(batch.row(r).size());
      for (Entry const& entry : batch.row(r)) {
        values.push_back(static_cast<float>(entry.feature));
        values.push_back(entry.value);
      }
    }
  });
  return {sizes, Bits(values)};
}

TEST_F(PagedDataTest, BinsAreThoseOfTheMatrixInCore) {
  int const threads = omp_get_max_threads();
  for (DataShape const& shape : {DataShape{9000, 13, 0.0}, DataShape{9000, 13, 0.1}, DataShape{9000, 13, 0.9},
                                 DataShape{5000, 70, 0.2}, DataShape{5000, 300, 0.98}}) {
    for (int const max_bin : {2, 3, 4, 17, 100, 255, 256, 257, 3000}) {
      SCOPED_TRACE(std::to_string(shape.features) + " columns, " + std::to_string(max_bin) + " bins");
      MemorySource const rows{RandomValues(shape, 17), 4096};
      auto const paged = PagedMatrix(rows, max_bin, threads, Limits(false), SmallPages(1));
      auto const in_core = BuildDeviceMatrix(rows, Span<float const>{}, max_bin, 0, threads);
      ASSERT_NE(paged->pages, nullptr);
      ASSERT_EQ(in_core->pages, nullptr);
      EXPECT_EQ(ReadBack(*paged, threads), ReadBack(*in_core, threads));
    }
  }
}

// Pages of one array, and of arrays that come one after the other, on the host and on the device.
TEST_F(PagedDataTest, BinsOfArraysAreThoseOfTheMatrixInCore) {
  for (ArrayCase const& c : ArrayCases()) {
    if (c.rows < 5000 || c.features > 1000) continue;
    SCOPED_TRACE(c.name);
    CaseArray array{c};
    auto const copy = array.on_device(0);
    auto const in_core = BuildDeviceMatrix(array.on_host(), Span<float const>{}, 256, 0, 2);
    auto const expected = ReadBack(*in_core, 2);
    std::uint64_t const most = c.rows / 3 + 1;
    ArraysSource const parts{array.on_host(), most}, copied_parts{copy, most};
    for (RowSource const* source :
         std::initializer_list<RowSource const*>{&array.on_host(), &copy, &parts, &copied_parts}) {
      auto const paged = PagedMatrix(*source, 256, 2, Limits(false), SmallPages(1));
      ASSERT_NE(paged->pages, nullptr);
      EXPECT_EQ(paged->cuts, in_core->cuts);
      EXPECT_EQ(ReadBack(*paged, 2), expected) << "device " << source->arrays()->device;
    }
  }
}

// Bins that a training has no room for in core are moved, dense ones, CSR and tiles.
TEST_F(PagedDataTest, BinsInCoreAreMoved) {
  for (DataShape const& shape : {DataShape{9000, 13, 0.0}, DataShape{9000, 13, 0.1}, DataShape{9000, 13, 0.9},
                                 DataShape{5000, 300, 0.45}, DataShape{5000, 300, 0.98}}) {
    for (int const max_bin : {4, 256, 3000}) {
      SCOPED_TRACE(std::to_string(shape.features) + " columns, " + std::to_string(shape.missing) + " missing, " +
                   std::to_string(max_bin) + " bins");
      MemorySource const rows{RandomValues(shape, 18), 4096};
      auto const in_core = BuildDeviceMatrix(rows, Span<float const>{}, max_bin, 0, 2);
      auto const expected = ReadBack(*in_core, 2);
      DeviceScope const scope{0};
      EXPECT_EQ(cuda::MatrixWithin(in_core, {}), in_core);
      EXPECT_EQ(cuda::MatrixWithin(in_core, Limits(false)), in_core);
      auto moved = cuda::MatrixWithin(in_core, Limits(false), SmallPages(1));
      ASSERT_NE(moved->pages, nullptr);
      EXPECT_EQ(moved->pages->pages().size(), (shape.rows + 2047) / 2048);
      EXPECT_EQ(moved->stored, in_core->stored);
      EXPECT_EQ(moved->training_bytes, Limits(false).training_bytes);
      EXPECT_EQ(ReadBack(*moved, 2), expected);
      // Pages that another training uses live longer than the matrix that they were made with.
      MemoryLimits limits;
      limits.training_bytes = std::uint64_t{1} << 30;
      auto const other = cuda::MatrixWithin(moved, limits);
      EXPECT_EQ(other->pages.get(), moved->pages.get());
      EXPECT_EQ(other->training_bytes, limits.training_bytes);
      moved.reset();
      EXPECT_EQ(ReadBack(*other, 2), expected);
      auto const gradients = RandomGradients(RandomValues(shape, 18), 19);
      TrainParams params;
      params.max_depth = 5;
      Tree const tree = MakeCudaTreeBuilder(in_core, 2)->Grow(params, gradients, {});
      EXPECT_EQ(MakeCudaTreeBuilder(other, 2)->Grow(params, gradients, {}), tree);
    }
  }
}

TEST_F(PagedDataTest, InCoreIfThereIsRoom) {
  MemorySource const rows{RandomValues({9000, 13, 0.1}, 17), 4096};
  MemoryLimits limits;
  limits.training_bytes = std::uint64_t{1} << 30;
  EXPECT_EQ(BuildDeviceMatrix(rows, Span<float const>{}, 256, 0, 2, limits)->pages, nullptr);
  limits.training_bytes = std::uint64_t{32} << 20;
  auto const paged = BuildDeviceMatrix(rows, Span<float const>{}, 256, 0, 2, limits);
  ASSERT_NE(paged->pages, nullptr);
}

TEST_F(PagedDataTest, ALimitBelowTheLeastIsRefused) {
  MemorySource const rows{RandomValues({9000, 13, 0.1}, 17), 4096};
  MemoryLimits limits;
  limits.training_bytes = 1 << 20;
  try {
    BuildDeviceMatrix(rows, Span<float const>{}, 256, 0, 2, limits);
    FAIL() << "a limit of 1 MiB was accepted";
  } catch (InvalidArgument const& error) {
    std::string const words = error.what();
    EXPECT_NE(words.find("gpu_memory_limit"), std::string::npos) << words;
    EXPECT_NE(words.find("1048576"), std::string::npos) << words;
  }
}

TEST_F(PagedDataTest, PagesThatStayAreGivenUpForOtherMemory) {
  MemorySource const rows{RandomValues({20000, 13, 0.1}, 17), 4096};
  auto const matrix = PagedMatrix(rows, 256, 2, Limits(false), SmallPages(1));
  DeviceScope const scope{0};
  DeviceArena arena{"Test"};
  Stream const stream;
  cuda::PageStream pages{*matrix->pages, &arena, stream};
  arena.OnShortage([&] { return pages.GiveUpPages(); });
  std::size_t const before = arena.bytes();
  arena.SetLimit(before + (std::size_t{1} << 20));
  pages.KeepPages(0);
  ASSERT_GT(pages.kept(), 2U);
  std::size_t visited = 0;
  auto const visit = [&](Page<DeviceMatrixView> const& page) { visited += page.matrix.rows; };
  pages.ForEach(visit);
  EXPECT_EQ(visited, 20000U);
  DeviceBuffer<std::uint8_t> const other{&arena, "other", std::size_t{1} << 20};
  EXPECT_EQ(pages.kept(), 0U);
  pages.ForEach(visit);
  EXPECT_EQ(visited, 40000U);
  EXPECT_THROW((DeviceBuffer<std::uint8_t>{&arena, "more", 1}), OutOfDeviceMemory);
  stream.Wait("a test");
}

TEST_F(PagedDataTest, NextPagesAreCopiedOnce) {
  MemorySource const rows{RandomValues({20000, 13, 0.1}, 17), 4096};
  auto const matrix = PagedMatrix(rows, 256, 2, Limits(false), SmallPages(0));
  DeviceScope const scope{0};
  DeviceArena arena{"Test"};
  Stream const stream;
  cuda::PageStream const pages{*matrix->pages, &arena, stream};
  for (int pass = 0; pass < 4; ++pass) pages.ForEach([](Page<DeviceMatrixView> const&) {});
  stream.Wait("a test");
  std::size_t const all = matrix->pages->all_bytes();
  EXPECT_GE(pages.copied_bytes(), 4 * all);
  EXPECT_LE(pages.copied_bytes(), 4 * all + cuda::PageStream::kSlots * matrix->pages->most_bytes());
}

}  // namespace
}  // namespace xgbgpu::testing
