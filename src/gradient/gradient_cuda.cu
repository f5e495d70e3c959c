// Kernels that choose the format of a tree's gradients.
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
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

/// Chooses the format. With fewer than kNarrowMinRows rows it looks at the maxima only.
__global__ void __launch_bounds__(kThreads)
    FormatKernel(GradientPair const* gradients, std::uint64_t rows, std::uint64_t all_rows, bool alone,
                 GradientMaxima const* maxima, TreeDraw const* draw, GradientState* state) {
  WaitForKernelBefore();
  ChooseBySums<kThreads>(all_rows, *maxima, alone, draw->min_child_weight, state,
                         [&](auto&& f) { ForEachGradient(gradients, rows, f); });
}

/// Chooses a format that was not predicted from the combined state of all devices. One thread.
__global__ void FinishFormatKernel(std::uint64_t all_rows, std::int64_t const* rows_of_all, TreeDraw const* draw,
                                   GradientState* state) {
  WaitForKernelBefore();
  if (state->foreseen) return;
  std::uint64_t const rows = rows_of_all != nullptr ? static_cast<std::uint64_t>(*rows_of_all) : all_rows;
  GradientMaxima const maxima = state->maxima;
  bool const looked = rows >= kNarrowMinRows && maxima.grad < kNotFiniteBits && maxima.hess < kNotFiniteBits;
  WriteFormatFromSums(rows, maxima, looked, state->sums, draw->min_child_weight, state);
}

__global__ void __launch_bounds__(kThreads)
    SampleFormatKernel(SampledGradients gradients, std::uint64_t most, TreeDraw const* draw, GradientState* state) {
  WaitForKernelBefore();
  std::uint64_t const rows = min(std::uint64_t{*gradients.count}, most);
  bool const alone = gradients.of_all == nullptr;
  std::uint64_t const all = alone ? rows : static_cast<std::uint64_t>(*gradients.of_all);
  if (WriteForeseen(all, gradients.early, draw->min_child_weight, state)) return;
  ChooseBySums<kThreads>(all, state->maxima, alone, draw->min_child_weight, state, [&](auto&& f) {
    std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows; i += step) f(gradients.At(i));
  });
}

}  // namespace

void ChooseGradientFormat(DeviceGradients const& gradients, DeviceShard const& shard, TreeDraw const* draw,
                          GradientState* state, DeviceLimits const& limits, cudaStream_t stream) {
  GradientMaxima const* maxima = gradients.maxima;
  if (maxima == nullptr) {
    FindLargestGradients(gradients.pairs, shard.rows, &state->maxima, limits, stream);
    maxima = &state->maxima;
  }
  if (!shard.alone()) {
    ShareMaxima(shard, maxima, state, stream);
    maxima = &state->maxima;
  }
  std::uint64_t const all = shard.all_rows();
  if (shard.alone() || all >= kNarrowMinRows) {
    unsigned const blocks = all < kNarrowMinRows ? 1 : Blocks(shard.rows, kThreads * 8, limits, kResident);
    LaunchNext("choosing the format of the gradients", FormatKernel, blocks, kThreads, 0, limits, stream,
               gradients.pairs, shard.rows, all, shard.alone(), maxima, draw, state);
  }
  FinishFormat(shard, nullptr, draw, state, limits, stream);
}

void ShareMaxima(DeviceShard const& shard, GradientMaxima const* own, GradientState* state, cudaStream_t stream,
                 std::uint32_t const* count, std::int64_t* count_of_all) {
  if (shard.alone()) return;
  static_assert(sizeof(GradientMaxima) == 2 * sizeof(std::uint32_t));
  static_assert(sizeof(EarlySums) == 5 * sizeof(std::int64_t));
  DeviceNumbers numbers;
  numbers.largest = &own->grad;
  numbers.largest_of_all = &state->maxima.grad;
  numbers.largest_count = 2;
  numbers.sums = &state->early.narrow.grad;
  numbers.sum_count = 5;
  numbers.count = count;
  numbers.count_of_all = count_of_all;
  shard.devices->Combine(numbers, nullptr, stream);
}

void FinishFormat(DeviceShard const& shard, std::int64_t const* rows_of_all, TreeDraw const* draw, GradientState* state,
                  DeviceLimits const& limits, cudaStream_t stream) {
  if (shard.alone()) return;
  static_assert(sizeof(FormatSums) == 3 * sizeof(std::int64_t));
  if (shard.all_rows() >= kNarrowMinRows) {
    DeviceNumbers numbers;
    numbers.sums = &state->sums.coarse.grad;
    numbers.sum_count = 3;
    shard.devices->Combine(numbers, &state->foreseen, stream);
  }
  LaunchNext("choosing the format of the gradients", FinishFormatKernel, 1, 1, 0, limits, stream, shard.all_rows(),
             rows_of_all, draw, state);
}

void FindLargestGradients(GradientPair const* gradients, std::uint64_t rows, GradientMaxima* maxima,
                          DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("looking for the largest gradient", LargestKernel, Blocks(rows, kThreads * 8, limits, kResident), kThreads,
             0, limits, stream, gradients, rows, maxima);
}

void ChooseSampleFormat(SampledGradients const& gradients, std::uint64_t most, DeviceShard const& shard,
                        TreeDraw const* draw, GradientState* state, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("choosing the format of the gradients", SampleFormatKernel, Blocks(most, kThreads * 4, limits, kResident),
             kThreads, 0, limits, stream, gradients, most, draw, state);
  FinishFormat(shard, gradients.of_all, draw, state, limits, stream);
}

}  // namespace xgbgpu::cuda
