/// Sums on a device in the order of metric_sum.h: a block of threads takes a block of items, and a thread a lane.
#ifndef XGBGPU_METRIC_SUM_CUDA_CUH_
#define XGBGPU_METRIC_SUM_CUDA_CUH_

#include <cstdint>
#include <cstring>

#include "cuda/grid.h"
#include "metric/metric_sum.h"

namespace xgbgpu::cuda {

/// Returns the value of the lane that is `distance` lanes higher in the warp.
template <typename T>
__device__ T FromLaneAbove(T const& value, unsigned distance) {
  static_assert(sizeof(T) % sizeof(double) == 0);
  double words[sizeof(T) / sizeof(double)];
  memcpy(words, &value, sizeof(T));
  for (double& word : words) word = __shfl_down_sync(kAllLanes, word, distance);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}

/// Returns, in thread 0 only, the sum over the block's lanes. All kSumLanes threads of the block call it.
template <typename T>
__device__ T AddLanes(T lane) {
  static_assert(kSumGroup == 32);
  __shared__ T groups[kSumGroups];
  for (unsigned d = kSumGroup / 2; d > 0; d /= 2) lane = Combine(lane, FromLaneAbove(lane, d));
  if (threadIdx.x % kSumGroup == 0) groups[threadIdx.x / kSumGroup] = lane;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned d = kSumGroups / 2; d > 0; d /= 2) {
      for (unsigned g = 0; g < d; ++g) groups[g] = Combine(groups[g], groups[g + d]);
    }
    lane = groups[0];
  }
  __syncthreads();  // the next call reuses `groups`
  return lane;
}

/// Sums items 0 … n - 1, and calls `finish(sum)` in thread 0 of the grid's last block. block_sums: [SumBlocks(n)],
/// scratch.
template <typename Terms, typename Finish>
__device__ void SumTerms(Terms const& terms, std::uint64_t n, decltype(terms(std::uint64_t{0}))* block_sums,
                         std::uint32_t* finished, Finish&& finish) {
  using T = decltype(terms(std::uint64_t{0}));
  std::uint64_t const blocks = SumBlocks(n);
  for (std::uint64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    T lane{};
    std::uint64_t const end = min(n, (b + 1) * kSumBlock);
    for (std::uint64_t i = b * kSumBlock + threadIdx.x; i < end; i += kSumLanes) lane = Combine(lane, terms(i));
    lane = AddLanes(lane);
    if (threadIdx.x == 0) block_sums[b] = lane;
  }
  if (!IsLastBlock(finished, gridDim.x)) return;
  T lane{};
  for (std::uint64_t b = threadIdx.x; b < blocks; b += kSumLanes) lane = Combine(lane, LoadFresh(block_sums + b));
  lane = AddLanes(lane);
  if (threadIdx.x == 0) finish(lane);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_METRIC_SUM_CUDA_CUH_
