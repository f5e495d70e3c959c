/// What the blocks of the split kernel share: candidates in an order that a maximum can find.
#ifndef XGBGPU_SPLIT_SPLIT_BLOCK_CUH_
#define XGBGPU_SPLIT_SPLIT_BLOCK_CUH_

#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "split/params_cuda.cuh"
#include "split/score_bound_ops.h"
#include "split/split_groups.h"
#include "split/split_ops.h"

namespace xgbgpu::cuda {

/// What tells of the splits of a tree that they are not the best.
struct SplitFilter {
  float lambda;             ///< ScoreUnits::lambda
  std::int64_t least_hess;  ///< LeastHessian
};
__device__ inline SplitFilter FilterOf(SplitParams const& params) {
  return {ScoreUnits{params}.lambda, LeastHessian(params)};
}

/// What a warp has found: the largest key, and the least bound that a better candidate must have.
struct FoundByWarp {
  unsigned long long key;
  float least;
};

/// What the threads of a block share: for all of its items, then for one.
struct SplitShared {
  SplitParams params;  ///< in the units of the tree
  SplitFilter filter;
  longlong2 part[kSplitThreads];
  float warp_bound[kSplitThreads / 32];
  FoundByWarp found[kSplitThreads / 32];
};

/// A key that puts the larger gain first, then the smaller `order`. 0: no candidate.
__device__ inline unsigned long long CandidateKey(float gain, std::uint32_t order) {
  if (!(gain > 0.0f)) return 0;
  return (static_cast<unsigned long long>(__float_as_uint(gain)) << 32) | (0xFFFFFFFFU - order);
}

/// The gain that a key was made of.
__device__ inline float GainOf(unsigned long long key) {
  return __uint_as_float(static_cast<std::uint32_t>(key >> 32));
}

__device__ inline unsigned long long WarpMax(unsigned long long key) {
  auto const high = static_cast<std::uint32_t>(key >> 32), low = static_cast<std::uint32_t>(key);
  std::uint32_t const top = WarpMax(high);
  return (static_cast<unsigned long long>(top) << 32) | WarpMax(high == top ? low : 0);
}

/// The maximum of numbers that are not negative, whose bits compare as they do.
__device__ inline float WarpMax(float value) { return __uint_as_float(WarpMax(__float_as_uint(value))); }

// Each of the following is a barrier. What it shares must not be written before one more barrier.

/// Returns in every thread the largest of the block's numbers, none of which is negative.
__device__ inline float LargestOfBlock(float value, SplitShared* shared) {
  float const of_warp = WarpMax(value);
  if (threadIdx.x % 32 == 0) shared->warp_bound[threadIdx.x / 32] = of_warp;
  __syncthreads();
  return WarpMax(shared->warp_bound[threadIdx.x % (kSplitThreads / 32)]);
}

/// Returns in every thread the largest key and the largest `least` of the block, each by itself.
__device__ inline FoundByWarp LargestOfBlock(unsigned long long key, float least, SplitShared* shared) {
  FoundByWarp const of_warp{WarpMax(key), WarpMax(least)};
  if (threadIdx.x % 32 == 0) shared->found[threadIdx.x / 32] = of_warp;
  __syncthreads();
  FoundByWarp const found = shared->found[threadIdx.x % (kSplitThreads / 32)];
  return {WarpMax(found.key), WarpMax(found.least)};
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_BLOCK_CUH_
