// Tests the places and forms of datasets without a CUDA device. tests/cuda has datasets on devices.
#include <gtest/gtest.h>

#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::testing {
namespace {

TEST(DatasetPlaceTest, WithoutADevice) {
  std::string why_not;
  if (CudaAvailable(&why_not)) GTEST_SKIP() << "this test is for builds without a usable CUDA device";
  EXPECT_EQ(CudaDeviceCount(), 0);
  MemorySource const source{RandomValues({100, 3}, 1)};
  Place const automatic{BackendKind::kAuto, 0}, device{BackendKind::kCuda, 0};
  auto const data = Dataset::Build(source, {}, 16, 1, automatic);
  EXPECT_EQ(data->place().backend, BackendKind::kHost);
  EXPECT_EQ(data->devices(), 0);
  EXPECT_EQ(data->cuts(), Dataset::Build(source, {}, 16, 1)->cuts());
  std::vector<std::string> const parts{"gpu_backend is cuda", why_not, "auto, host"};
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Dataset::Build(source, {}, 16, 1, device); }, parts), "");
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Dataset::FromBinEdges(source, 1, device); }, parts), "");
}

TEST(DatasetFormTest, SortedColumnsHaveNoCuts) {
  MemorySource const source{RandomValues({100, 3, 0.3}, 2)};
  auto const sorted = Dataset::BuildSorted(source, 1);
  auto const bins = Dataset::Build(source, {}, 16, 1);
  EXPECT_TRUE(sorted->sorted());
  EXPECT_FALSE(bins->sorted());
  EXPECT_EQ(sorted->cuts(), Cuts{});
  EXPECT_EQ(sorted->features(), 3U);
  EXPECT_EQ(sorted->rows(), 100U);
  EXPECT_EQ(sorted->stored(), bins->stored());
}

TEST(DatasetFormTest, OnlyBinsInMemoryAreReadBack) {
  MemorySource const source{RandomValues({10, 2}, 3)};
  auto const sorted = Dataset::BuildSorted(source, 1);
  auto const read = [&] { sorted->VisitLowerEnds(0, 10, 1, [](RowBatch const&) {}); };
  EXPECT_EQ(WhatIsWrong<Unsupported>(read, {"no bins in memory"}), "");
  auto const bins = Dataset::Build(source, {}, 16, 1);
  std::uint64_t entries = 0;
  bins->VisitLowerEnds(2, 7, 1, [&](RowBatch const& batch) { entries += batch.entries.size(); });
  EXPECT_EQ(entries, 7U * 2);
}

}  // namespace
}  // namespace xgbgpu::testing
