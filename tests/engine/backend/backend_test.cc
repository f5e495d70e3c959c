// Tests which backend a wish gives, and what the host's backend makes.
#include "backend/backend.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "collective/in_process.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

TEST(BackendTest, TheHostIsAlwaysThere) {
  EXPECT_EQ(Backend::Host().kind(), BackendKind::kHost);
  EXPECT_EQ(&Backend::For(BackendKind::kHost), &Backend::Host());
}

TEST(BackendTest, AutoIsADeviceIfOneCanBeUsed) {
  Backend const* const cuda = Backend::Cuda();
  EXPECT_EQ(&Backend::For(BackendKind::kAuto), cuda == nullptr ? &Backend::Host() : cuda);
}

TEST(BackendTest, AutoIsTheHostForSeveralShards) {
  ShardThreads threads{2};
  threads.Run([&](int shard) { EXPECT_EQ(&Backend::For(BackendKind::kAuto, threads.of(shard)), &Backend::Host()); });
  EXPECT_EQ(Backend::For(BackendKind::kAuto, &NoOtherShards()).kind(), Backend::For(BackendKind::kAuto).kind());
}

TEST(BackendTest, AMissingDeviceHasAReason) {
  std::string why_not;
  if (Backend::Cuda(&why_not) != nullptr) GTEST_SKIP() << "this test is for machines and builds without a CUDA device";
  EXPECT_FALSE(why_not.empty());
  EXPECT_EQ(WhatIsWrong<Unsupported>([] { Backend::For(BackendKind::kCuda); }, {"gpu_backend is cuda", why_not}), "");
}

TEST(BackendTest, ABuildWithoutCudaHasNoDeviceBackend) {
  std::string why_not;
  if (DeviceBackend::OfBuild(&why_not) != nullptr) GTEST_SKIP() << "this test is for builds without CUDA";
  EXPECT_EQ(why_not, "this build of xgboost-gpu has no CUDA backend");
  EXPECT_EQ(WhatIsWrong<Unsupported>([] { DeviceBackend::Get(); }, {"gpu_backend is cuda", why_not}), "");
}

TEST(BackendTest, TheHostMakesBinsAndTreesOnThem) {
  TreeCase const c = RandomCase({500, 4, 0.2}, 301);
  MemorySource const source{c.values};
  TrainingMatrix const matrix = Backend::Host().MakeMatrix(source, {c.max_bin, {}}, {}, 2);
  ASSERT_TRUE(std::holds_alternative<HostBins>(matrix.form));
  EXPECT_EQ(matrix.facts.rows, 500U);
  EXPECT_EQ(matrix.facts.features, 4U);
  EXPECT_LT(matrix.facts.stored, 2000U);
  EXPECT_FALSE(matrix.facts.in_pages);
  MemoryLimits limits;
  limits.training_bytes = 1;
  EXPECT_FALSE(Backend::Host().MatrixWithin(matrix, limits).has_value());
  auto const builder = Backend::Host().MakeBuilder(matrix, Shard::Whole(500), 2);
  EXPECT_EQ(builder->Grow(c.params, c.gradients, c.key), Grow(c));
}

}  // namespace
}  // namespace xgbgpu::testing
