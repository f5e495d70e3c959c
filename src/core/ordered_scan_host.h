/// Prefix sums on the host in the order of ordered_scan.h.
#ifndef XGBGPU_CORE_ORDERED_SCAN_HOST_H_
#define XGBGPU_CORE_ORDERED_SCAN_HOST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"
#include "core/ordered_scan.h"

namespace xgbgpu::host {

/// Replaces the lanes' sums by their prefix sums.
template <typename T>
void ScanLanes(T* lanes) {
  for (std::uint32_t d = 1; d < kScanLanes; d *= 2) {
    for (std::uint32_t l = kScanLanes; l-- > d;) lanes[l] = lanes[l - d] + lanes[l];
  }
}

/// Writes the prefix sums of a block's lanes to lanes [kScanLanes].
template <typename T>
void ScanBlockLanes(T const* items, std::uint64_t block, std::uint64_t n, T* lanes) {
  for (std::uint32_t l = 0; l < kScanLanes; ++l) {
    std::uint64_t const begin = block * kScanBlock + l * kScanItems;
    T sum{};
    for (std::uint64_t i = begin; i < std::min(n, begin + kScanItems); ++i) sum = sum + items[i];
    lanes[l] = sum;
  }
  ScanLanes(lanes);
}

/// Calls use(i, sum of load(0) … load(i)) for i in 0 … n - 1, in any order. Calls load once for each item.
///
/// Memory  n of T
template <typename T, typename Load, typename Use>
void OrderedScan(std::uint64_t n, int threads, Load const& load, Use const& use) {
  Buffer<T> items{n};
  std::vector<T> before(ScanBlocks(n));  // sums of blocks, which become exclusive prefix sums
  ParallelTasks(threads, before.size(), [&](std::size_t block, int) {
    std::uint64_t const begin = block * kScanBlock, end = std::min(n, begin + kScanBlock);
    for (std::uint64_t i = begin; i < end; ++i) items[i] = load(i);
    T lanes[kScanLanes];
    ScanBlockLanes(items.data(), block, n, lanes);
    before[block] = lanes[kScanLanes - 1];
  });
  T carry{};
  for (std::size_t base = 0; base < before.size(); base += kScanLanes) {
    T lanes[kScanLanes]{};
    std::size_t const here = std::min<std::size_t>(kScanLanes, before.size() - base);
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(base), here, lanes);
    ScanLanes(lanes);
    for (std::size_t l = 0; l < here; ++l) before[base + l] = carry + lanes[l];
    carry = carry + lanes[kScanLanes - 1];
  }
  ParallelTasks(threads, before.size(), [&](std::size_t block, int) {
    T lanes[kScanLanes];
    ScanBlockLanes(items.data(), block, n, lanes);
    T const base = block == 0 ? T{} : before[block - 1];
    for (std::uint32_t l = 0; l < kScanLanes; ++l) {
      std::uint64_t const begin = block * kScanBlock + l * kScanItems;
      T sum = base + (l == 0 ? T{} : lanes[l - 1]);
      for (std::uint64_t i = begin; i < std::min(n, begin + kScanItems); ++i) {
        sum = sum + items[i];
        use(i, sum);
      }
    }
  });
}

}  // namespace xgbgpu::host

#endif  // XGBGPU_CORE_ORDERED_SCAN_HOST_H_
