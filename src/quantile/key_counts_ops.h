/// Counters of sort keys, digit after digit, for host and device.
#ifndef XGBGPU_QUANTILE_KEY_COUNTS_OPS_H_
#define XGBGPU_QUANTILE_KEY_COUNTS_OPS_H_

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu {

/// Consecutive bits of a key. The higher bits of the key are the digit's *prefix*.
struct KeyDigit {
  int shift;  ///< number of lower bits
  int bits;

  XGBGPU_HD bool IsFirst() const { return shift + bits == 32; }    ///< the prefix is empty
  XGBGPU_HD std::uint32_t counters() const { return 1U << bits; }  ///< counters of a prefix
  XGBGPU_HD std::uint32_t Of(std::uint32_t key) const { return (key >> shift) & (counters() - 1); }
  XGBGPU_HD std::uint32_t PrefixOf(std::uint32_t key) const {
    return static_cast<std::uint32_t>(std::uint64_t{key} >> (shift + bits));
  }
};

/// The digits of a key, the highest first. The first digit has an empty prefix: sign, exponent and three bits of the
/// mantissa. The values of most columns fall into a few dozen of its counters.
constexpr KeyDigit kKeyDigits[] = {{20, 12}, {10, 10}, {0, 10}};
constexpr int kNumKeyDigits = 3;

constexpr std::uint64_t kNoCounter = ~std::uint64_t{0};

/// Prefixes whose next digit is counted. The prefixes of a column are neighbours and ascend.
struct PrefixView {
  KeyDigit digit;
  std::uint32_t const* start;  ///< [columns + 1] offsets of the columns' prefixes
  std::uint32_t const* bits;   ///< [start[columns]]

  /// Returns the number of the key's counter, or kNoCounter if no counted prefix fits.
  XGBGPU_HD std::uint64_t CounterOf(std::uint32_t column, std::uint32_t key) const {
    std::uint32_t at = start[column], n = start[column + 1] - at;
    if (n == 0) return kNoCounter;
    std::uint32_t const prefix = digit.PrefixOf(key);
    while (n > 1) {  // without branches: the direction is unpredictable
      std::uint32_t const half = n / 2;
      at += bits[at + half] <= prefix ? half : 0;
      n -= half;
    }
    return bits[at] == prefix ? std::uint64_t{at} * digit.counters() + digit.Of(key) : kNoCounter;
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_KEY_COUNTS_OPS_H_
