/// Prefix sums over a block: device code for kernels that end with one block which counts, places and chooses.
#ifndef XGBGPU_CUDA_BLOCK_SCAN_CUH_
#define XGBGPU_CUDA_BLOCK_SCAN_CUH_

#include <cstdint>
#include <cub/block/block_scan.cuh>

namespace xgbgpu::cuda {

constexpr int kPlanThreads = 256;  ///< threads of a block, in every kernel whose last block plans
/// Scans by warps. A block that plans runs alone, so the longest chain of its threads counts.
template <int kThreads>
using PlanScanOf = cub::BlockScan<unsigned long long, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
using PlanScan = PlanScanOf<kPlanThreads>;

/// Returns exclusive prefix sums over the block, of two counts packed in one word. *carry is the sum of earlier calls.
template <typename Scan = PlanScan>
__device__ inline unsigned long long ScanStep(unsigned long long value, unsigned long long* carry,
                                              typename Scan::TempStorage& storage) {
  unsigned long long before, all;
  Scan(storage).ExclusiveSum(value, before, all);
  __syncthreads();  // the storage is used again
  before += *carry;
  *carry += all;
  return before;
}

__device__ inline std::uint32_t Low(unsigned long long word) { return static_cast<std::uint32_t>(word); }
__device__ inline std::uint32_t High(unsigned long long word) { return static_cast<std::uint32_t>(word >> 32); }
__device__ inline unsigned long long Both(std::uint32_t high, std::uint32_t low) {
  return (static_cast<unsigned long long>(high) << 32) | low;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_BLOCK_SCAN_CUH_
