/// What the blocks of the split kernel share: candidates in an order that a maximum can find.
#ifndef XGBGPU_SPLIT_SPLIT_BLOCK_CUH_
#define XGBGPU_SPLIT_SPLIT_BLOCK_CUH_

#include "core/grid.h"
#include "level/device_tree.h"
#include "split/split_ops.h"

namespace xgbgpu::cuda {

/// What the threads of one item share.
struct SplitShared {
  longlong2 part[kSplitThreads];
  unsigned long long warp_key[kSplitThreads / 32];
};

/// The larger gain first, then the smaller `order`. 0: no candidate.
__device__ inline unsigned long long CandidateKey(float gain, std::uint32_t order) {
  if (!(gain > 0.0f)) return 0;
  return (static_cast<unsigned long long>(__float_as_uint(gain)) << 32) | (0xFFFFFFFFU - order);
}

/// Its gain.
__device__ inline float GainOf(unsigned long long key) {
  return __uint_as_float(static_cast<std::uint32_t>(key >> 32));
}

__device__ inline unsigned long long WarpMax(unsigned long long key) {
  for (int d = 16; d > 0; d /= 2) key = max(key, __shfl_xor_sync(kAllLanes, key, d));
  return key;
}

/// True in the one thread of the block that has the largest key; in thread 0 if all are 0.
__device__ inline bool HasLargest(unsigned long long key, SplitShared* shared) {
  unsigned long long const warp_key = WarpMax(key);
  if (threadIdx.x % 32 == 0) shared->warp_key[threadIdx.x / 32] = warp_key;
  __syncthreads();
  unsigned long long top = 0;
  for (int w = 0; w < kSplitThreads / 32; ++w) top = max(top, shared->warp_key[w]);
  __syncthreads();  // the shared words are used again
  return top == 0 ? threadIdx.x == 0 : key == top;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_BLOCK_CUH_
