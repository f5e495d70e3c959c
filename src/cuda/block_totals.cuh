/// Totals over a block. With them a kernel makes one addition in device memory for each block and not for each warp:
/// additions to one address are carried out one after the other.
#ifndef XGBGPU_CUDA_BLOCK_TOTALS_CUH_
#define XGBGPU_CUDA_BLOCK_TOTALS_CUH_

#include "cuda/grid.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Combines all threads' values to two totals, and calls use(which, total) in one thread for each of them. The whole
/// block must call this, once in a kernel for each type of `use`. combine is associative and commutative.
template <int kBlockThreads, typename T, typename Combine, typename Use>
__device__ void ForBlockTotals(T first, T second, Combine&& combine, Use&& use) {
  __shared__ T totals[kBlockThreads / 32][2];
  for (int d = 16; d > 0; d /= 2) {
    first = combine(first, __shfl_xor_sync(kAllLanes, first, d));
    second = combine(second, __shfl_xor_sync(kAllLanes, second, d));
  }
  if (threadIdx.x % 32 == 0) {
    totals[threadIdx.x / 32][0] = first;
    totals[threadIdx.x / 32][1] = second;
  }
  __syncthreads();
  if (threadIdx.x >= 2) return;
  T total = totals[0][threadIdx.x];
  for (int w = 1; w < kBlockThreads / 32; ++w) total = combine(total, totals[w][threadIdx.x]);
  use(threadIdx.x, total);
}

/// Adds the block's sums to *to. Each use in a kernel needs a kUse of its own, which gives it shared memory of its own.
template <int kBlockThreads, int kUse = 0>
__device__ void AddBlockSum(GradientSum own, GradientSum* to) {
  ForBlockTotals<kBlockThreads>(
      own.grad, own.hess, [](std::int64_t a, std::int64_t b) { return a + b; },
      [&](unsigned which, std::int64_t total) { AtomicAdd(which == 0 ? &to->grad : &to->hess, total); });
}

/// Adds 1 to *to if `own` is true in any thread of the block. All threads call this.
__device__ inline void CountBlockIfAny(bool own, std::int64_t* to) {
  if (__syncthreads_or(own ? 1 : 0) != 0 && threadIdx.x == 0) AtomicAdd(to, std::int64_t{1});
}

/// The largest of the warp's values.
__device__ inline std::uint32_t WarpMax(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAllLanes, value);
#else
  for (int d = 16; d > 0; d /= 2) value = max(value, __shfl_xor_sync(kAllLanes, value, d));
  return value;
#endif
}

/// Raises *first and *second to the largest of the block's values.
template <int kBlockThreads>
__device__ void RaiseToBlockMax(std::uint32_t own_first, std::uint32_t own_second, std::uint32_t* first,
                                std::uint32_t* second) {
  ForBlockTotals<kBlockThreads>(
      own_first, own_second, [](std::uint32_t a, std::uint32_t b) { return max(a, b); },
      [&](unsigned which, std::uint32_t total) { atomicMax(which == 0 ? first : second, total); });
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_BLOCK_TOTALS_CUH_
