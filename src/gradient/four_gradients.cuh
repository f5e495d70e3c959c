/// Loads and stores gradients of neighbouring rows, 16 bytes at a time.
#ifndef XGBGPU_GRADIENT_FOUR_GRADIENTS_CUH_
#define XGBGPU_GRADIENT_FOUR_GRADIENTS_CUH_

#include <cstdint>

#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Loads gradients first … first + 3 of `rows`, with zeros beyond the last. `first` is a multiple of four.
__device__ inline void LoadFour(GradientPair const* gradients, std::uint64_t first, std::uint64_t rows,
                                GradientPair (&v)[4]) {
  if (first + 4 <= rows) {
    auto const* const from = reinterpret_cast<float4 const*>(gradients + first);
    float4 const a = from[0], b = from[1];
    v[0] = {a.x, a.y};
    v[1] = {a.z, a.w};
    v[2] = {b.x, b.y};
    v[3] = {b.z, b.w};
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = first + i < rows ? gradients[first + i] : GradientPair{0.0f, 0.0f};
}

/// Stores gradients first … first + 3, but none beyond the last of `rows`. `first` is a multiple of four.
__device__ inline void StoreFour(GradientPair const (&v)[4], std::uint64_t first, std::uint64_t rows,
                                 GradientPair* gradients) {
  if (first + 4 <= rows) {
    auto* const to = reinterpret_cast<float4*>(gradients + first);
    to[0] = {v[0].grad, v[0].hess, v[1].grad, v[1].hess};
    to[1] = {v[2].grad, v[2].hess, v[3].grad, v[3].hess};
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i < rows) gradients[first + i] = v[i];
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_FOUR_GRADIENTS_CUH_
