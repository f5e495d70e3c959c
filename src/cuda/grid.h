/// How kernels divide their work. Included by .cu files only.
#ifndef XGBGPU_CUDA_GRID_H_
#define XGBGPU_CUDA_GRID_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda/device.h"

namespace xgbgpu::cuda {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;

/// Threads that a multiprocessor holds at least, of the architecture that is compiled for. Kernels must not ask for
/// more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kProcessorThreads = 1024;
#elif defined(__CUDA_ARCH__) && ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200)
constexpr int kProcessorThreads = 1536;
#else
constexpr int kProcessorThreads = 2048;
#endif

/// Bytes of shared memory that the system takes from every block.
constexpr std::size_t kBlockOverhead = 1 << 10;

/// Returns how many blocks n elements need at `per_block` each, but at most `resident` for each multiprocessor: kernels
/// loop over the rest.
inline unsigned Blocks(std::uint64_t n, std::uint64_t per_block, DeviceLimits const& limits, int resident) {
  std::uint64_t const wanted = (n + per_block - 1) / per_block;
  auto const most = static_cast<std::uint64_t>(limits.processors) * static_cast<std::uint64_t>(resident);
  return static_cast<unsigned>(std::max<std::uint64_t>(1, std::min(wanted, most)));
}

/// Throws if the launch just made was refused.
inline void CheckLaunch(char const* what) { CheckCuda(cudaGetLastError(), what); }

#if defined(__CUDACC__)
/// Adds one, like fetch_add(1, memory_order_acq_rel) of cuda::atomic_ref, for the whole device. Returns the old value.
/// It is written here because <cuda/atomic> takes half of the compile time of a short file of device code.
__device__ inline std::uint32_t CountOne(std::uint32_t* count) {
  std::uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.u32 %0,[%1],%2;" : "=r"(before) : "l"(count), "r"(1U) : "memory");
  return before;
}

/// Returns true in every thread of the last of `blocks` blocks to call it, and then resets *finished for the next use.
/// Earlier writes of other blocks are visible to this block, if it reads past the first-level cache (__ldcg).
__device__ inline bool IsLastBlock(std::uint32_t* finished, std::uint32_t blocks) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {  // the barriers put the accesses of the whole block before or after this one
    last = CountOne(finished) == blocks - 1;
    if (last) *finished = 0;
  }
  __syncthreads();
  return last;
}

/// Reads a value that another block may have written during this kernel, past the first-level cache.
template <typename T>
__device__ inline T LoadFresh(T const* from) {
  using Piece = std::conditional_t<alignof(T) % 16 == 0, uint4, unsigned long long>;
  static_assert(alignof(T) % 8 == 0);
  Piece pieces[sizeof(T) / sizeof(Piece)];
  for (unsigned i = 0; i < sizeof(T) / sizeof(Piece); ++i) {
    pieces[i] = __ldcg(reinterpret_cast<Piece const*>(from) + i);
  }
  T value;
  memcpy(&value, pieces, sizeof(T));
  return value;
}

/// Does *to = value in as few stores as can be: where each lane writes a structure of its own, every store costs an
/// access for each lane.
template <typename T>
__device__ inline void StoreWhole(T* to, T const& value) {
  static_assert(alignof(T) % 16 == 0);
  uint4 pieces[sizeof(T) / 16];
  memcpy(pieces, &value, sizeof(T));
  for (unsigned i = 0; i < sizeof(T) / 16; ++i) reinterpret_cast<uint4*>(to)[i] = pieces[i];
}

/// Returns the sum over the warp, in every lane.
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

#endif  // XGBGPU_CUDA_GRID_H_
