#include "core/block_totals.cuh"
#include "core/grid.h"
#include "core/launch.h"
#include "gradient/gradient_cuda.h"
#include "gradient/gradient_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;  // blocks per multiprocessor: all the threads it holds

__device__ void WriteFormat(std::uint64_t rows, bool narrow, GradientState* state) {
  state->format = MakeGradientFormat(rows, __ldcg(&state->grad_max), __ldcg(&state->hess_max), narrow);
  state->grad_scale = ScaleByPowerOfTwo(1.0, state->format.grad_shift);
  state->hess_scale = ScaleByPowerOfTwo(1.0, state->format.hess_shift);
}

template <typename F>
__device__ void ForEachGradient(GradientPair const* gradients, std::uint64_t rows, F&& f) {
  auto const* const pairs = reinterpret_cast<float4 const*>(gradients);  // two rows
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  std::uint64_t const first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (std::uint64_t i = first; i < rows / 2; i += step) {
    float4 const v = pairs[i];
    f(GradientPair{v.x, v.y});
    f(GradientPair{v.z, v.w});
  }
  if (rows % 2 != 0 && first == 0) f(gradients[rows - 1]);
}

/// Raises *grad_max and *hess_max to the largest magnitudes.
__device__ void FindLargest(GradientPair const* gradients, std::uint64_t rows, std::uint32_t* grad_max,
                            std::uint32_t* hess_max) {
  std::uint32_t grad = 0, hess = 0;
  ForEachGradient(gradients, rows, [&](GradientPair v) {
    grad = max(grad, MagnitudeBits(v.grad));
    hess = max(hess, MagnitudeBits(v.hess));
  });
  RaiseToBlockMax<kThreads>(grad, hess, grad_max, hess_max);
}

__global__ void __launch_bounds__(kThreads)
    LargestKernel(GradientPair const* gradients, std::uint64_t rows, GradientState* state) {
  WaitForKernelBefore();
  FindLargest(gradients, rows, &state->grad_max, &state->hess_max);
  if (rows >= kNarrowMinRows) return;  // CoarseSumKernel decides
  if (IsLastBlock(&state->finished_blocks, gridDim.x) && threadIdx.x == 0) WriteFormat(rows, false, state);
}

__global__ void __launch_bounds__(kThreads) LargestOnlyKernel(GradientPair const* gradients, std::uint64_t rows,
                                                              std::uint32_t* grad_max, std::uint32_t* hess_max) {
  WaitForKernelBefore();
  FindLargest(gradients, rows, grad_max, hess_max);
}

/// Adds up what for_each(f) hands to f, all gradients of `rows` rows; the last block chooses the format.
template <typename ForEach>
__device__ void ChooseBySums(std::uint64_t rows, GradientState* state, ForEach&& for_each) {
  // Values that are not finite are reported by the caller; until then they must only do no harm.
  bool const may_be_narrow =
      rows >= kNarrowMinRows && state->grad_max < kNotFiniteBits && state->hess_max < kNotFiniteBits;
  if (may_be_narrow) {
    FloatScale const grad_scale = CoarseScale(state->grad_max), hess_scale = CoarseScale(state->hess_max);
    std::int64_t grad = 0, hess = 0;
    for_each([&](GradientPair v) {
      grad += CoarseMagnitude(v.grad, grad_scale);
      hess += CoarseMagnitude(v.hess, hess_scale);
    });
    ForBlockTotals<kThreads>(
        grad, hess, [](std::int64_t a, std::int64_t b) { return a + b; },
        [&](unsigned which, std::int64_t total) {
          atomicAdd(which == 0 ? &state->grad_coarse : &state->hess_coarse, static_cast<unsigned long long>(total));
        });
  }
  if (IsLastBlock(&state->finished_blocks, gridDim.x) && threadIdx.x == 0) {
    auto const none_towers = [&](unsigned long long const* sum) {
      return NoneTowers(static_cast<std::int64_t>(__ldcg(sum)), rows);
    };
    WriteFormat(rows, may_be_narrow && none_towers(&state->grad_coarse) && none_towers(&state->hess_coarse), state);
  }
}

__global__ void __launch_bounds__(kThreads)
    CoarseSumKernel(GradientPair const* gradients, std::uint64_t rows, GradientState* state) {
  WaitForKernelBefore();
  ChooseBySums(rows, state, [&](auto&& f) { ForEachGradient(gradients, rows, f); });
}

__global__ void __launch_bounds__(kThreads)
    SampleFormatKernel(SampledGradients gradients, std::uint64_t most, GradientState* state) {
  WaitForKernelBefore();
  std::uint64_t const rows = min(std::uint64_t{*gradients.count}, most);
  ChooseBySums(rows, state, [&](auto&& f) {
    std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows; i += step) f(gradients.At(i));
  });
}

}  // namespace

void ChooseGradientFormat(GradientPair const* gradients, std::uint64_t rows, GradientState* state,
                          DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(rows, kThreads * 8, limits, kResident);
  LaunchNext("looking for the largest gradient", LargestKernel, blocks, kThreads, 0, limits, stream, gradients, rows,
             state);
  if (rows < kNarrowMinRows) return;
  LaunchNext("choosing the format of the gradients", CoarseSumKernel, blocks, kThreads, 0, limits, stream, gradients,
             rows, state);
}

void FindLargestGradients(GradientPair const* gradients, std::uint64_t rows, std::uint32_t* grad_max,
                          std::uint32_t* hess_max, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("looking for the largest gradient", LargestOnlyKernel, Blocks(rows, kThreads * 8, limits, kResident),
             kThreads, 0, limits, stream, gradients, rows, grad_max, hess_max);
}

void ChooseSampleFormat(SampledGradients const& gradients, std::uint64_t most, GradientState* state,
                        DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("choosing the format of the gradients", SampleFormatKernel, Blocks(most, kThreads * 4, limits, kResident),
             kThreads, 0, limits, stream, gradients, most, state);
}

}  // namespace xgbgpu::cuda
