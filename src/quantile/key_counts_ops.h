/// Counts of sort keys, digit after digit: which counter a key belongs to. One source for host and device.
#ifndef XGBGPU_QUANTILE_KEY_COUNTS_OPS_H_
#define XGBGPU_QUANTILE_KEY_COUNTS_OPS_H_

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu {

/// Some neighbouring bits of a key. The bits above them are their *prefix*.
struct KeyDigit {
  int shift;  ///< bits below
  int bits;

  XGBGPU_HD bool IsFirst() const { return shift + bits == 32; }    ///< the prefix is empty
  XGBGPU_HD std::uint32_t counters() const { return 1U << bits; }  ///< that a prefix takes
  XGBGPU_HD std::uint32_t Of(std::uint32_t key) const { return (key >> shift) & (counters() - 1); }
  XGBGPU_HD std::uint32_t PrefixOf(std::uint32_t key) const {
    return static_cast<std::uint32_t>(std::uint64_t{key} >> (shift + bits));
  }
};

/// A key's digits, the highest first; before it the prefix is empty. Sign, exponent and three bits of the mantissa are
/// the first, so that the values of most columns fall into some dozens of its counters.
constexpr KeyDigit kKeyDigits[] = {{20, 12}, {10, 10}, {0, 10}};
constexpr int kNumKeyDigits = 3;

constexpr std::uint64_t kNoCounter = ~std::uint64_t{0};

/// Prefixes whose next digit is counted. Those of a column are neighbours and ascend.
struct PrefixView {
  KeyDigit digit;
  std::uint32_t const* start;  ///< [columns + 1] of each column's prefixes
  std::uint32_t const* bits;   ///< [start[columns]]

  /// Returns the number of the key's counter, kNoCounter if its prefix is not counted.
  XGBGPU_HD std::uint64_t CounterOf(std::uint32_t column, std::uint32_t key) const {
    std::uint32_t at = start[column], n = start[column + 1] - at;
    if (n == 0) return kNoCounter;
    std::uint32_t const prefix = digit.PrefixOf(key);
    while (n > 1) {  // without branches: which half it is cannot be foretold
      std::uint32_t const half = n / 2;
      at += bits[at + half] <= prefix ? half : 0;
      n -= half;
    }
    return bits[at] == prefix ? std::uint64_t{at} * digit.counters() + digit.Of(key) : kNoCounter;
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_KEY_COUNTS_OPS_H_
