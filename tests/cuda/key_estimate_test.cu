// Keys of samples that are told by estimates of gradients: EstimateKey either is sure and right, or says that it is
// not, which it seldom does.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sample/key_estimate.cuh"

namespace xgbgpu::cuda {
namespace {

struct Counts {
  unsigned long long rows, unsure, wrong;
};

struct Row {
  float margin, label, weight;
};

__device__ void Look(LogisticLoss const& loss, Row const& row, SamplingMethod method, Counts* own) {
  std::uint32_t const key = EstimateKey(loss, row.margin, row.label, row.weight, method);
  bool const unsure = key == kUnsureKey;
  own->rows += 1;
  own->unsure += unsure ? 1 : 0;
  own->wrong += !unsure && key != KeyOf(loss(row.margin, row.label, row.weight), method) ? 1 : 0;
}

__device__ void Add(Counts const& own, Counts* counts) {
  atomicAdd(&counts->rows, own.rows);
  atomicAdd(&counts->unsure, own.unsure);
  atomicAdd(&counts->wrong, own.wrong);
}

/// Margins whose bits are first … first + n - 1, with both labels.
__global__ void EveryMarginKernel(std::uint32_t first, std::uint32_t n, SamplingMethod method, Counts* counts) {
  LogisticLoss const loss{1.0f};
  Counts own{};
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float const margin = __uint_as_float(first + i);
    for (float label : {0.0f, 1.0f}) Look(loss, {margin, label, 1.0f}, method, &own);
  }
  Add(own, counts);
}

__global__ void RowsKernel(LogisticLoss loss, Row const* rows, std::uint32_t n, SamplingMethod method, Counts* counts) {
  std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Counts own{};
  Look(loss, rows[i], method, &own);
  Add(own, counts);
}

class KeyEstimateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
    ASSERT_EQ(cudaMallocManaged(&counts_, sizeof(Counts)), cudaSuccess);
  }
  void TearDown() override { cudaFree(counts_); }

  template <typename Launch>
  Counts Count(Launch&& launch) {
    *counts_ = {};
    launch(counts_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return *counts_;
  }

  Counts* counts_{nullptr};
};

constexpr SamplingMethod kMethods[]{SamplingMethod::kGradientBased, SamplingMethod::kGoss};

// Each float from 2^-6 to 2^6, and its negative: 24 · 2^23 rows of each label.
TEST_F(KeyEstimateTest, EveryMargin) {
  for (SamplingMethod method : kMethods) {
    for (std::uint32_t sign : {0U, 0x80000000U}) {
      for (std::uint32_t exponent = 127 - 6; exponent < 127 + 6; ++exponent) {
        SCOPED_TRACE(::testing::Message() << "exponent " << exponent << ", sign " << sign);
        Counts const counts =
            Count([&](Counts* to) { EveryMarginKernel<<<1024, 256>>>(sign | exponent << 23, 1U << 23, method, to); });
        EXPECT_EQ(counts.rows, 2ULL << 23);
        EXPECT_EQ(counts.wrong, 0u);
        // From -4 to 4 the least and the largest value are 2^-20 (6 + 4 + e^4) apart, and keys at least 2^-9: at most
        // 2^-11 · 65 of the rows, if they lie evenly.
        if (exponent < 127 + 2) EXPECT_LT(counts.unsure, counts.rows / 31);
      }
    }
  }
}

TEST_F(KeyEstimateTest, WhateverRowsAre) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  std::vector<float> margins{0.0f, -0.0f, 1e-38f, 1e-45f, kInfinite, -kInfinite, std::nanf(""), 3e38f, -3e38f};
  for (float x = -130.0f; x < 130.0f; x += 0.0137f) margins.push_back(x);
  std::vector<Row> rows;
  for (float margin : margins) {
    for (float label : {0.0f, 1.0f, 0.25f, 1e-30f, 0.99999994f, 2.0f}) {
      for (float weight : {1.0f, 0.3f, 0.0f, 1e-6f, 1e-38f, 1e-44f, 1e6f, 1e30f, 3e38f}) {
        rows.push_back({margin, label, weight});
      }
    }
  }
  Row* device_rows = nullptr;
  ASSERT_EQ(cudaMallocManaged(&device_rows, rows.size() * sizeof(Row)), cudaSuccess);
  std::copy(rows.begin(), rows.end(), device_rows);
  auto const n = static_cast<std::uint32_t>(rows.size());
  for (SamplingMethod method : kMethods) {
    for (float scale_pos_weight : {1.0f, 17.3f, 1e-20f}) {
      SCOPED_TRACE(::testing::Message() << "scale_pos_weight " << scale_pos_weight);
      Counts const counts = Count([&](Counts* to) {
        RowsKernel<<<(n + 255) / 256, 256>>>(LogisticLoss{scale_pos_weight}, device_rows, n, method, to);
      });
      EXPECT_EQ(counts.rows, rows.size());
      EXPECT_EQ(counts.wrong, 0u);
      EXPECT_LT(counts.unsure, counts.rows);
    }
  }
  EXPECT_EQ(cudaFree(device_rows), cudaSuccess);
}

}  // namespace
}  // namespace xgbgpu::cuda
