/// Sums on a device in the order of ordered_scan.h: a block of threads takes a block of items, and a thread a lane.
#ifndef XGBGPU_CUDA_ORDERED_SCAN_CUDA_CUH_
#define XGBGPU_CUDA_ORDERED_SCAN_CUDA_CUH_

#include <cstdint>

#include "core/ordered_scan.h"
#include "cuda/grid.h"

namespace xgbgpu::cuda {

/// Writes the prefix sums of the threads' sums to `lanes` (shared memory, [kScanLanes]), where all threads can read
/// them when this returns. A block that read `lanes` before must call __syncthreads first.
template <typename T>
__device__ void ScanLanes(T own, T* lanes) {
  lanes[threadIdx.x] = own;
  __syncthreads();
  for (std::uint32_t d = 1; d < kScanLanes; d *= 2) {
    if (threadIdx.x >= d) own = lanes[threadIdx.x - d] + own;
    __syncthreads();
    lanes[threadIdx.x] = own;
    __syncthreads();
  }
}

template <typename T, typename Load>
__device__ T LaneSum(Load const& load, std::uint64_t begin, std::uint64_t n) {
  T sum{};
  for (std::uint64_t i = begin; i < min(n, begin + kScanItems); ++i) sum = sum + load(i);
  return sum;
}

/// before[b] becomes the sum of blocks 0 … b. The last block of threads makes prefix sums of the sums of all blocks.
template <typename T, typename Load>
__global__ void __launch_bounds__(kScanLanes)
    ScanBlocksKernel(Load load, std::uint64_t n, T* before, std::uint32_t* finished) {
  __shared__ T lanes[kScanLanes];
  std::uint64_t const blocks = ScanBlocks(n);
  for (std::uint64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    ScanLanes(LaneSum<T>(load, block * kScanBlock + threadIdx.x * kScanItems, n), lanes);
    if (threadIdx.x == kScanLanes - 1) before[block] = lanes[kScanLanes - 1];
    __syncthreads();  // `lanes` is used again
  }
  if (!IsLastBlock(finished, gridDim.x)) return;
  T carry{};
  for (std::uint64_t base = 0; base < blocks; base += kScanLanes) {
    std::uint64_t const block = base + threadIdx.x;
    ScanLanes(block < blocks ? LoadFresh(before + block) : T{}, lanes);
    if (block < blocks) before[block] = carry + lanes[threadIdx.x];
    carry = carry + lanes[kScanLanes - 1];
    __syncthreads();
  }
}

template <typename T, typename Load, typename Use>
__global__ void __launch_bounds__(kScanLanes) ScanItemsKernel(Load load, Use use, std::uint64_t n, T const* before) {
  __shared__ T lanes[kScanLanes];
  std::uint64_t const blocks = ScanBlocks(n);
  for (std::uint64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    std::uint64_t const begin = block * kScanBlock + threadIdx.x * kScanItems;
    ScanLanes(LaneSum<T>(load, begin, n), lanes);
    T const base = block == 0 ? T{} : before[block - 1];
    T sum = base + (threadIdx.x == 0 ? T{} : lanes[threadIdx.x - 1]);
    for (std::uint64_t i = begin; i < min(n, begin + kScanItems); ++i) {
      sum = sum + load(i);
      use(i, sum);
    }
    __syncthreads();  // `lanes` is used again
  }
}

/// Enqueues use(i, sum of load(0) … load(i)) for i in 0 … n - 1, in any order. load is called twice for each item and
/// must not read memory that use writes. `before` is scratch, [ScanBlocks(n)]. *finished must be 0, and is 0 again at
/// the end.
template <typename T, typename Load, typename Use>
void OrderedScan(std::uint64_t n, Load const& load, Use const& use, T* before, std::uint32_t* finished,
                 DeviceLimits const& limits, cudaStream_t stream, char const* what) {
  constexpr int kResident = 8;  // blocks per multiprocessor: all the threads it holds
  unsigned const blocks = Blocks(n, kScanBlock, limits, kResident);
  ScanBlocksKernel<T><<<blocks, kScanLanes, 0, stream>>>(load, n, before, finished);
  CheckLaunch(what);
  ScanItemsKernel<T><<<blocks, kScanLanes, 0, stream>>>(load, use, n, before);
  CheckLaunch(what);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_ORDERED_SCAN_CUDA_CUH_
