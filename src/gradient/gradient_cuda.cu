#include "core/grid.h"
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

__global__ void __launch_bounds__(kThreads)
    LargestKernel(GradientPair const* gradients, std::uint64_t rows, GradientState* state) {
  std::uint32_t grad = 0, hess = 0;
  ForEachGradient(gradients, rows, [&](GradientPair v) {
    grad = max(grad, MagnitudeBits(v.grad));
    hess = max(hess, MagnitudeBits(v.hess));
  });
  for (int d = 16; d > 0; d /= 2) {
    grad = max(grad, __shfl_xor_sync(kAllLanes, grad, d));
    hess = max(hess, __shfl_xor_sync(kAllLanes, hess, d));
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(&state->grad_max, grad);
    atomicMax(&state->hess_max, hess);
  }
  if (rows >= kNarrowMinRows) return;  // CoarseSumKernel decides
  if (IsLastBlock(&state->finished_blocks, gridDim.x) && threadIdx.x == 0) WriteFormat(rows, false, state);
}

__global__ void __launch_bounds__(kThreads)
    CoarseSumKernel(GradientPair const* gradients, std::uint64_t rows, GradientState* state) {
  // Values that are not finite are reported by the caller; until then they must only do no harm.
  bool const finite = state->grad_max < kNotFiniteBits && state->hess_max < kNotFiniteBits;
  if (finite) {
    double const grad_scale = CoarseScale(state->grad_max), hess_scale = CoarseScale(state->hess_max);
    std::int64_t grad = 0, hess = 0;
    ForEachGradient(gradients, rows, [&](GradientPair v) {
      grad += CoarseMagnitude(v.grad, grad_scale);
      hess += CoarseMagnitude(v.hess, hess_scale);
    });
    grad = WarpSum(grad);
    hess = WarpSum(hess);
    if (threadIdx.x % 32 == 0) {
      atomicAdd(&state->grad_coarse, static_cast<unsigned long long>(grad));
      atomicAdd(&state->hess_coarse, static_cast<unsigned long long>(hess));
    }
  }
  if (IsLastBlock(&state->finished_blocks, gridDim.x) && threadIdx.x == 0) {
    auto const none_towers = [&](unsigned long long const* sum) {
      return NoneTowers(static_cast<std::int64_t>(__ldcg(sum)), rows);
    };
    WriteFormat(rows, finite && none_towers(&state->grad_coarse) && none_towers(&state->hess_coarse), state);
  }
}

}  // namespace

void ChooseGradientFormat(GradientPair const* gradients, std::uint64_t rows, GradientState* state,
                          DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(rows, kThreads * 8, limits, kResident);
  LargestKernel<<<blocks, kThreads, 0, stream>>>(gradients, rows, state);
  CheckLaunch("looking for the largest gradient");
  if (rows < kNarrowMinRows) return;
  CoarseSumKernel<<<blocks, kThreads, 0, stream>>>(gradients, rows, state);
  CheckLaunch("choosing the format of the gradients");
}

}  // namespace xgbgpu::cuda
