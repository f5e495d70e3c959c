// How kernels divide work and follow one another: cuda/launch.h, cuda/block_totals.cuh, the search for jobs.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "core/search.h"
#include "cuda/block_totals.cuh"
#include "cuda/launch.h"
#include "cuda/warp_search.cuh"

namespace xgbgpu::cuda {
namespace {

constexpr int kThreads = 256;

class CudaGrid : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
    limits_ = CurrentDeviceLimits();
    stream_.emplace();
  }
  Stream const& stream() const { return *stream_; }

  template <typename T>
  std::vector<T> Download(DeviceBuffer<T> const& from) {
    std::vector<T> to(from.size());
    CopyToHost(to.data(), from.data(), to.size(), stream(), "reading results");
    stream().Wait("reading results");
    return to;
  }

  DeviceLimits limits_{};
  DeviceArena arena_{"A test"};

 private:
  std::optional<Stream> stream_;  ///< empty without a device
};

/// One kernel of a chain. It reads values from all over the array and writes one more. Some blocks are late.
__global__ void AddOneKernel(std::uint32_t const* from, std::uint32_t* to, std::uint32_t n) {
  WaitForKernelBefore();
  if (blockIdx.x % 7 == 3) {
    for (long long const end = clock64() + 20000; clock64() < end;) continue;
  }
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    to[i] = from[(std::uint64_t{i} * 7919 + 12345) % n] + 1;
  }
}

class CudaChain : public CudaGrid, public ::testing::WithParamInterface<bool> {};

TEST_P(CudaChain, EveryKernelSeesAllOfTheOneBefore) {
  constexpr std::uint32_t kItems = 100003, kSteps = 60;
  DeviceBuffer<std::uint32_t> values[2] = {{&arena_, "values", kItems}, {&arena_, "values", kItems}};
  DeviceBuffer<std::uint32_t> other{&arena_, "values", kItems};
  auto const enqueue = [&] {
    FillBytes(values[0].data(), 0, kItems, stream(), "clearing");
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      LaunchNext("adding", AddOneKernel, 100, kThreads, 0, limits_, stream(), values[step % 2].data(),
                 values[1 - step % 2].data(), kItems);
      if (step % 20 == 10) FillBytes(other.data(), 0, kItems, stream(), "clearing");
    }
  };
  bool const recorded = GetParam();
  for (int repetition = 0; repetition < 20; ++repetition) {
    if (recorded) {
      CheckCuda(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), "recording");
      enqueue();
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t ready = nullptr;
      CheckCuda(cudaStreamEndCapture(stream(), &graph), "recording");
      CheckCuda(cudaGraphInstantiate(&ready, graph, 0), "recording");
      CheckCuda(cudaGraphLaunch(ready, stream()), "starting");
      stream().Wait("adding");
      cudaGraphExecDestroy(ready);
      cudaGraphDestroy(graph);
    } else {
      enqueue();
    }
    std::vector<std::uint32_t> const result = Download(values[kSteps % 2]);
    ASSERT_EQ(std::count(result.begin(), result.end(), kSteps), kItems) << "repetition " << repetition;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, CudaChain, ::testing::Bool(),
                         [](auto const& info) { return info.param ? "Recorded" : "InAStream"; });

__global__ void FindJobsKernel(std::uint32_t const* first, std::uint32_t jobs, std::uint32_t items,
                               std::uint32_t* found) {
  std::uint32_t const item = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (item >= items) return;
  std::uint32_t const job = FindJobByWarp(jobs, item, [&](std::uint32_t j) { return first[j]; });
  if (threadIdx.x % 32 == 0) found[item] = job;
}

TEST_F(CudaGrid, AWarpFindsTheJobThatOneThreadFinds) {
  std::mt19937 random{1};
  for (std::uint32_t jobs : {1U, 2U, 31U, 32U, 33U, 63U, 64U, 1000U, 1024U, 1025U, 5000U}) {
    std::vector<std::uint32_t> first{0};
    while (first.size() < jobs) first.push_back(first.back() + random() % 3);  // some jobs have no items
    std::uint32_t const items = first.back() + 2;
    DeviceBuffer<std::uint32_t> const on_device = Upload(&arena_, "jobs", first.data(), first.size());
    DeviceBuffer<std::uint32_t> const found{&arena_, "jobs", items};
    FindJobsKernel<<<(items + 7) / 8, kThreads, 0, stream()>>>(on_device.data(), jobs, items, found.data());
    CheckLaunch("finding jobs");
    std::vector<std::uint32_t> const result = Download(found);
    for (std::uint32_t item = 0; item < items; ++item) {
      ASSERT_EQ(result[item], RangeOf(jobs, item, [&](std::uint32_t j) { return first[j]; })) << jobs << " jobs";
    }
  }
}

__global__ void TotalsKernel(std::int64_t const* values, std::uint32_t n, GradientSum* sum, std::uint32_t* maxima) {
  GradientSum own;
  std::uint32_t largest = 0;
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    own.grad += values[i];
    own.hess -= 3 * values[i];
    largest = max(largest, static_cast<std::uint32_t>(values[i]));
  }
  AddBlockSum<kThreads>(own, sum);
  RaiseToBlockMax<kThreads>(largest, largest / 2, maxima, maxima + 1);
}

TEST_F(CudaGrid, TotalsOfBlocksAreTheTotalsOfAll) {
  std::mt19937_64 random{2};
  std::vector<std::int64_t> values(70001);
  for (std::int64_t& v : values) v = static_cast<std::int64_t>(random() >> 16) - (std::int64_t{1} << 47);
  GradientSum expected;
  std::uint32_t largest = 0;
  for (std::int64_t v : values) {
    expected.grad += v;
    expected.hess -= 3 * v;
    largest = std::max(largest, static_cast<std::uint32_t>(v));
  }
  DeviceBuffer<std::int64_t> const on_device = Upload(&arena_, "values", values.data(), values.size());
  DeviceBuffer<GradientSum> const sum{&arena_, "totals", 1};
  DeviceBuffer<std::uint32_t> const maxima{&arena_, "totals", 2};
  FillBytes(sum.data(), 0, 1, stream(), "clearing");
  FillBytes(maxima.data(), 0, 2, stream(), "clearing");
  TotalsKernel<<<19, kThreads, 0, stream()>>>(on_device.data(), static_cast<std::uint32_t>(values.size()), sum.data(),
                                              maxima.data());
  CheckLaunch("adding up");
  EXPECT_EQ(Download(sum)[0].grad, expected.grad);
  EXPECT_EQ(Download(sum)[0].hess, expected.hess);
  EXPECT_EQ(Download(maxima)[0], largest);
  EXPECT_EQ(Download(maxima)[1], largest / 2);
}

}  // namespace
}  // namespace xgbgpu::cuda
