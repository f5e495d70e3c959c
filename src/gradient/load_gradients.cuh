/// Loads gradients of neighbouring rows, 16 bytes at a time.
#ifndef XGBGPU_GRADIENT_LOAD_GRADIENTS_CUH_
#define XGBGPU_GRADIENT_LOAD_GRADIENTS_CUH_

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

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_LOAD_GRADIENTS_CUH_
