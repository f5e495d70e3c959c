#include "core/block_totals.cuh"
#include "core/grid.h"
#include "core/launch.h"
#include "gradient/gradient_cuda.h"
#include "gradient/gradient_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;  // blocks per multiprocessor: all the threads it holds

__device__ void WriteFormat(std::uint64_t rows, GradientMaxima maxima, bool narrow, GradientState* state) {
  state->format = MakeGradientFormat(rows, maxima.grad, maxima.hess, narrow);
  state->grad_scale = ScaleByPowerOfTwo(1.0, state->format.grad_shift);
  state->hess_scale = ScaleByPowerOfTwo(1.0, state->format.hess_shift);
}

template <typename F>
__device__ void ForEachGradient(GradientPair const* gradients, std::uint64_t rows, F&& f) {
  auto const* const pairs = reinterpret_cast<float4 const*>(gradients);  // two rows
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  std::uint64_t const first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
#pragma unroll 4
  for (std::uint64_t i = first; i < rows / 2; i += step) {
    float4 const v = pairs[i];
    f(GradientPair{v.x, v.y});
    f(GradientPair{v.z, v.w});
  }
  if (rows % 2 != 0 && first == 0) f(gradients[rows - 1]);
}

__global__ void __launch_bounds__(kThreads)
    LargestKernel(GradientPair const* gradients, std::uint64_t rows, GradientMaxima* maxima) {
  WaitForKernelBefore();
  std::uint32_t grad = 0, hess = 0;
  ForEachGradient(gradients, rows, [&](GradientPair v) {
    grad = max(grad, MagnitudeBits(v.grad));
    hess = max(hess, MagnitudeBits(v.hess));
  });
  RaiseToBlockMax<kThreads>(grad, hess, &maxima->grad, &maxima->hess);
}

__device__ bool NeitherTowers(GradientSum coarse, std::uint64_t rows) {
  return NoneTowers(coarse.grad, rows) && NoneTowers(coarse.hess, rows);
}

/// Adds up what for_each(f) hands to f, all gradients of `rows` rows; the last block chooses the format.
template <typename ForEach>
__device__ void ChooseBySums(std::uint64_t rows, GradientMaxima maxima, GradientState* state, ForEach&& for_each) {
  // Values that are not finite are reported by the caller; until then they must only do no harm.
  bool const may_be_narrow = rows >= kNarrowMinRows && maxima.grad < kNotFiniteBits && maxima.hess < kNotFiniteBits;
  if (may_be_narrow) {
    FloatScale const grad_scale = CoarseScale(maxima.grad), hess_scale = CoarseScale(maxima.hess);
    std::int64_t grad = 0, hess = 0;
    for_each([&](GradientPair v) {
      grad += CoarseMagnitude(v.grad, grad_scale);
      hess += CoarseMagnitude(v.hess, hess_scale);
    });
    AddBlockSum<kThreads>({grad, hess}, &state->coarse);
  }
  if (IsLastBlock(&state->finished_blocks, gridDim.x) && threadIdx.x == 0) {
    state->maxima = maxima;
    WriteFormat(rows, maxima, may_be_narrow && NeitherTowers(LoadFresh(&state->coarse), rows), state);
  }
}

/// Of fewer than kNarrowMinRows rows only the maxima are looked at.
__global__ void __launch_bounds__(kThreads) FormatKernel(GradientPair const* gradients, std::uint64_t rows,
                                                         GradientMaxima const* maxima, GradientState* state) {
  WaitForKernelBefore();
  ChooseBySums(rows, *maxima, state, [&](auto&& f) { ForEachGradient(gradients, rows, f); });
}

__global__ void __launch_bounds__(kThreads)
    SampleFormatKernel(SampledGradients gradients, std::uint64_t most, GradientState* state) {
  WaitForKernelBefore();
  std::uint64_t const rows = min(std::uint64_t{*gradients.count}, most);
  GradientMaxima const maxima = state->maxima;
  if (gradients.coarse != nullptr && AreAlike(*gradients.like, maxima)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      WriteFormat(rows, maxima, rows >= kNarrowMinRows && NeitherTowers(*gradients.coarse, rows), state);
      state->foreseen = true;
    }
    return;
  }
  ChooseBySums(rows, maxima, state, [&](auto&& f) {
    std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows; i += step) f(gradients.At(i));
  });
}

}  // namespace

void ChooseGradientFormat(DeviceGradients const& gradients, std::uint64_t rows, GradientState* state,
                          DeviceLimits const& limits, cudaStream_t stream) {
  GradientMaxima const* maxima = gradients.maxima;
  if (maxima == nullptr) {
    FindLargestGradients(gradients.pairs, rows, &state->maxima, limits, stream);
    maxima = &state->maxima;
  }
  unsigned const blocks = rows < kNarrowMinRows ? 1 : Blocks(rows, kThreads * 8, limits, kResident);
  LaunchNext("choosing the format of the gradients", FormatKernel, blocks, kThreads, 0, limits, stream, gradients.pairs,
             rows, maxima, state);
}

void FindLargestGradients(GradientPair const* gradients, std::uint64_t rows, GradientMaxima* maxima,
                          DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("looking for the largest gradient", LargestKernel, Blocks(rows, kThreads * 8, limits, kResident), kThreads,
             0, limits, stream, gradients, rows, maxima);
}

void ChooseSampleFormat(SampledGradients const& gradients, std::uint64_t most, GradientState* state,
                        DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("choosing the format of the gradients", SampleFormatKernel, Blocks(most, kThreads * 4, limits, kResident),
             kThreads, 0, limits, stream, gradients, most, state);
}

}  // namespace xgbgpu::cuda
