#include "core/block_totals.cuh"
#include "core/grid.h"
#include "core/launch.h"
#include "gradient/choose_format.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;  // blocks per multiprocessor: all the threads it holds

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

/// Chooses the format. Of fewer than kNarrowMinRows rows it looks at the maxima only.
__global__ void __launch_bounds__(kThreads) FormatKernel(GradientPair const* gradients, std::uint64_t rows,
                                                         GradientMaxima const* maxima, GradientState* state) {
  WaitForKernelBefore();
  ChooseBySums<kThreads>(rows, *maxima, state, [&](auto&& f) { ForEachGradient(gradients, rows, f); });
}

__global__ void __launch_bounds__(kThreads)
    SampleFormatKernel(SampledGradients gradients, std::uint64_t most, GradientState* state) {
  WaitForKernelBefore();
  std::uint64_t const rows = min(std::uint64_t{*gradients.count}, most);
  if (WriteForeseen(rows, gradients.early, state)) return;
  ChooseBySums<kThreads>(rows, state->maxima, state, [&](auto&& f) {
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
