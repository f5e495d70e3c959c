/// Prefix sums of doubles (or structs with a +) in an order of additions that depends only on the number of items. The
/// bits are the same for any number of threads, on host and device.
///
/// Items 0 … n - 1 are cut into blocks of kScanBlock, and a block into kScanLanes lanes of kScanItems neighbours. A
/// lane adds its items one after another. The lanes' sums become prefix sums by doubling: every lane adds the lane 1
/// before it, then 2, 4 … 128 before it. The blocks' sums become prefix sums in the same way, kScanLanes at a time,
/// plus the sum of all earlier blocks. An item's prefix is (blocks before + lanes before) + own lane's items up to the
/// item, one after another. A chain of additions has length 8 + 8 + n / (kScanBlock · kScanLanes) + 8 + 2 + 8. For
/// items of one sign the relative error is below 2^-53 times the length: below 2^-47 for up to 15 million items.
#ifndef XGBGPU_CORE_ORDERED_SCAN_H_
#define XGBGPU_CORE_ORDERED_SCAN_H_

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu {

constexpr std::uint32_t kScanLanes = 256;
constexpr std::uint32_t kScanItems = 8;
constexpr std::uint32_t kScanBlock = kScanLanes * kScanItems;

XGBGPU_HD std::uint64_t ScanBlocks(std::uint64_t n) { return (n + kScanBlock - 1) / kScanBlock; }

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_ORDERED_SCAN_H_
