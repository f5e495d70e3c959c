/// Search by the lanes of a warp together.
#ifndef XGBGPU_CUDA_WARP_SEARCH_CUH_
#define XGBGPU_CUDA_WARP_SEARCH_CUH_

#include <cstdint>

namespace xgbgpu::cuda {

/// Returns the number of the last job whose `first` is not above `item`. All lanes of the warp pass the same item;
/// first(0) is 0. Does the work of RangeOf with an access for every 32-fold of jobs instead of every doubling.
template <typename First>
__device__ std::uint32_t FindJobByWarp(std::uint32_t jobs, std::uint32_t item, First&& first) {
  std::uint32_t low = 0, high = jobs;  // first(low) <= item < first(high)
  while (high - low > 1) {
    std::uint32_t const step = (high - low + 31) / 32, job = low + threadIdx.x % 32 * step;
    bool const up_to = job < high && first(job) <= item;
    low += (31 - __clz(static_cast<int>(__ballot_sync(0xFFFFFFFFU, up_to)))) * step;
    high = min(low + step, high);
  }
  return low;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_WARP_SEARCH_CUH_
