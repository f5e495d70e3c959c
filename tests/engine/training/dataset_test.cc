// driver: places of datasets where there is no CUDA device. tests/cuda has those where there is one.
#include <gtest/gtest.h>

#include "support/data.h"
#include "support/grow.h"
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
  EXPECT_EQ(data->device_matrix(), nullptr);
  EXPECT_EQ(data->cuts(), Dataset::Build(source, {}, 16, 1)->cuts());
  std::vector<std::string> const parts{"gpu_backend is cuda", why_not, "auto, host"};
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Dataset::Build(source, {}, 16, 1, device); }, parts), "");
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Dataset::FromBinEdges(source, 1, device); }, parts), "");
}

}  // namespace
}  // namespace xgbgpu::testing
