/// Shared state of the split kernel's blocks: candidates as keys whose maximum is the best.
#ifndef XGBGPU_SPLIT_SPLIT_BLOCK_CUH_
#define XGBGPU_SPLIT_SPLIT_BLOCK_CUH_

#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "split/params_cuda.cuh"
#include "split/score_bound_ops.h"
#include "split/split_groups.h"
#include "split/split_ops.h"

namespace xgbgpu::cuda {

/// The quick tests that reject splits of a tree.
struct SplitFilter {
  float lambda;             ///< ScoreUnits::lambda
  std::int64_t least_hess;  ///< LeastHessian
};
__device__ inline SplitFilter FilterOf(SplitParams const& params) {
  return {ScoreUnits{params}.lambda, LeastHessian(params)};
}

/// The result of a warp: the largest key, and the least bound of a better candidate.
struct FoundByWarp {
  unsigned long long key;
  float least;
};

/// The shared memory of a block: first data of all its items, then of one item.
struct SplitShared {
  SplitParams params;  ///< in the units of the tree
  SplitFilter filter;
  longlong2 part[kSplitThreads];
  float warp_bound[kSplitThreads / 32];
  FoundByWarp found[kSplitThreads / 32];
};

/// Returns a key that orders by the larger gain, then the smaller `order`. 0: no candidate.
__device__ inline unsigned long long CandidateKey(float gain, std::uint32_t order) {
  if (!(gain > 0.0f)) return 0;
  return (static_cast<unsigned long long>(__float_as_uint(gain)) << 32) | (0xFFFFFFFFU - order);
}

/// Returns the gain of a key.
__device__ inline float GainOf(unsigned long long key) {
  return __uint_as_float(static_cast<std::uint32_t>(key >> 32));
}

__device__ inline unsigned long long WarpMax(unsigned long long key) {
  auto const high = static_cast<std::uint32_t>(key >> 32), low = static_cast<std::uint32_t>(key);
  std::uint32_t const top = WarpMax(high);
  return (static_cast<unsigned long long>(top) << 32) | WarpMax(high == top ? low : 0);
}

/// Returns the maximum of non-negative numbers, whose bits order like the numbers.
__device__ inline float WarpMax(float value) { return __uint_as_float(WarpMax(__float_as_uint(value))); }

// Each function below is a barrier. Its shared memory must not be written before another barrier.

/// Returns in every thread the largest of the block's non-negative numbers.
__device__ inline float LargestOfBlock(float value, SplitShared* shared) {
  float const of_warp = WarpMax(value);
  if (threadIdx.x % 32 == 0) shared->warp_bound[threadIdx.x / 32] = of_warp;
  __syncthreads();
  return WarpMax(shared->warp_bound[threadIdx.x % (kSplitThreads / 32)]);
}

/// Returns in every thread the largest key and the largest `least` of the block, independently.
__device__ inline FoundByWarp LargestOfBlock(unsigned long long key, float least, SplitShared* shared) {
  FoundByWarp const of_warp{WarpMax(key), WarpMax(least)};
  if (threadIdx.x % 32 == 0) shared->found[threadIdx.x / 32] = of_warp;
  __syncthreads();
  FoundByWarp const found = shared->found[threadIdx.x % (kSplitThreads / 32)];
  return {WarpMax(found.key), WarpMax(found.least)};
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_BLOCK_CUH_
