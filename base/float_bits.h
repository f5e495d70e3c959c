/// The bits of floats, and integers that order like floats, for radix sorts and maxima of words.
#ifndef XGBGPU_BASE_FLOAT_BITS_H_
#define XGBGPU_BASE_FLOAT_BITS_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"

namespace xgbgpu {

/// Returns the bits of a float. The bits of non-negative floats order like the floats.
XGBGPU_HD std::uint32_t FloatBits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
XGBGPU_HD float FloatFromBits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Returns an integer that orders like |value|. NaN and infinity give kNotFiniteBits or more.
XGBGPU_HD std::uint32_t MagnitudeBits(float value) { return FloatBits(value) & 0x7FFFFFFFU; }
constexpr std::uint32_t kNotFiniteBits = 0x7F800000U;

// The keys below put a NaN at one end or the other: the processor chooses its sign.

/// Returns a key that increases with the value. -0 has a smaller key than 0. Different values have different keys.
XGBGPU_HD std::uint32_t DistinctKey(float value) {
  std::uint32_t const bits = FloatBits(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
/// Returns the value whose DistinctKey is `key`.
XGBGPU_HD float ValueOfKey(std::uint32_t key) { return FloatFromBits((key >> 31) != 0 ? key & 0x7FFFFFFFU : ~key); }
/// Returns a key that increases with the value. -0 and 0 have the same key.
XGBGPU_HD std::uint32_t AscendingKey(float value) { return DistinctKey(value + 0.0f); }
/// Returns a key that decreases with the value. -0 and 0 have the same key.
XGBGPU_HD std::uint32_t DescendingKey(float value) { return ~AscendingKey(value); }

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_FLOAT_BITS_H_
