/// Rows by their keys, as a block of a kernel that makes keys counts them.
#ifndef XGBGPU_SAMPLE_NEAR_KEYS_CUH_
#define XGBGPU_SAMPLE_NEAR_KEYS_CUH_

#include <cstdint>

#include "core/block_totals.cuh"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kNoKey = 2 * kKeys;  // not kUnsureKey; 16 bits of it are 0

/// Counts in shared memory: those of the octaves around the largest key of the tree before, and of 0. Other keys, which
/// are few, are counted in device memory.
struct NearKeys {
  static constexpr std::uint32_t kOctaves = 32, kHigher = 2, kNearKeys = kOctaves << kKeyBits;
  static constexpr std::uint32_t kFar = kNearKeys, kZero = kNearKeys + 1;
  std::uint32_t counts[kNearKeys + 2];  ///< then rows that do not count here, and those of the key 0, if it is not near
  std::uint32_t first;                  ///< key that is near
  std::uint32_t largest;                ///< key that was added: until HandOn of those that are not near

  /// By the whole block, which then meets before it adds.
  template <int kBlockThreads>
  __device__ void Begin(KeyCounts const& all) {
    for (std::uint32_t i = threadIdx.x; i <= kZero; i += kBlockThreads) counts[i] = 0;
    if (threadIdx.x != 0) return;
    constexpr std::uint32_t kOfOne = 127;  // in the first tree: as if keys were about 1
    std::uint32_t const top = min((all.largest_before == 0 ? kOfOne : all.largest_before >> kKeyBits) + kHigher, 255U);
    first = max(top, kOctaves - 1) - (kOctaves - 1) << kKeyBits;
    largest = 0;
  }
  /// Some rows of every lane; kNoKey is none. Where many have one key, as in the first tree, they do not queue up:
  /// shared memory carries out additions of 1 to one address together.
  template <int kLaneKeys>
  __device__ void Add(std::uint32_t const (&key)[kLaneKeys], KeyCounts* all) {
    bool far = false;
    std::uint32_t const first_near = first;
#pragma unroll
    for (int i = 0; i < kLaneKeys; ++i) {
      std::uint32_t const place = min(key[i] - first_near, kFar);
      atomicAdd(counts + place, 1U);
      far = far || place >= kNearKeys;
    }
    if (!far) return;
#pragma unroll
    for (int i = 0; i < kLaneKeys; ++i) AddFar(key[i], all);
  }
  /// By the whole block, when all is added.
  template <int kBlockThreads>
  __device__ void HandOn(KeyCounts* all) {
    __syncthreads();
    std::uint32_t own_largest = 0;
    for (std::uint32_t i = threadIdx.x; i < kNearKeys; i += kBlockThreads) {
      if (counts[i] == 0) continue;
      atomicAdd(all->of + first + i, counts[i]);
      own_largest = first + i;
    }
    own_largest = WarpMax(own_largest);
    if (threadIdx.x % 32 == 0) atomicMax(&largest, own_largest);
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (counts[kZero] != 0) atomicAdd(all->of, counts[kZero]);
    atomicMax(&all->largest, largest);
  }

 private:
  __device__ void AddFar(std::uint32_t key, KeyCounts* all) {
    if (key - first < kNearKeys || key == kNoKey) return;
    if (key == 0) {
      atomicAdd(counts + kZero, 1U);
      return;
    }
    std::uint32_t const alike = __match_any_sync(__activemask(), key);  // device memory does not
    if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(alike)) - 1) {
      atomicAdd(all->of + key, static_cast<std::uint32_t>(__popc(alike)));
      atomicMax(&largest, key);
    }
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_NEAR_KEYS_CUH_
