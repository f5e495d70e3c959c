/// How kernels divide their work. Included by .cu files only.
#ifndef XGBGPU_CORE_GRID_H_
#define XGBGPU_CORE_GRID_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/device.h"

namespace xgbgpu::cuda {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;

/// Blocks for n elements at `per_block` a block, at most `resident` per multiprocessor: kernels loop over the rest.
inline unsigned Blocks(std::uint64_t n, std::uint64_t per_block, DeviceLimits const& limits, int resident) {
  std::uint64_t const wanted = (n + per_block - 1) / per_block;
  auto const most = static_cast<std::uint64_t>(limits.processors) * static_cast<std::uint64_t>(resident);
  return static_cast<unsigned>(std::max<std::uint64_t>(1, std::min(wanted, most)));
}

/// Throws if the launch just made was refused.
inline void CheckLaunch(char const* what) { CheckCuda(cudaGetLastError(), what); }

#if defined(__CUDACC__)
/// True in every thread of the block that comes here last of all the grid's blocks; resets *finished for the next use.
/// What other blocks wrote before is visible to it (read it past the first-level cache: __ldcg).
__device__ inline bool IsLastBlock(std::uint32_t* finished, std::uint32_t blocks) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {  // its fences are the block's: what is ordered by the barriers is ordered by them
    __threadfence();
    last = atomicAdd(finished, 1U) == blocks - 1;
    if (last) *finished = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// A value that another block may have written during this kernel: read past the first-level cache.
template <typename T>
__device__ inline T LoadFresh(T const* from) {
  static_assert(sizeof(T) % 8 == 0 && alignof(T) >= 8);
  unsigned long long words[sizeof(T) / 8];
  for (unsigned i = 0; i < sizeof(T) / 8; ++i) words[i] = __ldcg(reinterpret_cast<unsigned long long const*>(from) + i);
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}

/// Sum over the warp, in every lane.
template <typename T>
__device__ inline T WarpSum(T value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(kAllLanes, value, d);
  return value;
}

__device__ inline void AtomicAdd(std::int64_t* to, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
#endif

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CORE_GRID_H_
