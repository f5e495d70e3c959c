/// The bits of floats, and unsigned integers that compare as floats do, for radix sorts and maxima of words.
#ifndef XGBGPU_BASE_FLOAT_BITS_H_
#define XGBGPU_BASE_FLOAT_BITS_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"

namespace xgbgpu {

/// Returns the bits of a float. Bits of floats >= 0 compare as the floats do.
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

/// Returns an integer that orders like |value|. For NaN and infinity it is kNotFiniteBits or above.
XGBGPU_HD std::uint32_t MagnitudeBits(float value) { return FloatBits(value) & 0x7FFFFFFFU; }
constexpr std::uint32_t kNotFiniteBits = 0x7F800000U;

// The keys below put a NaN at one end or the other, since its sign is up to the processor.

/// Returns a key that is larger for larger values, and less for -0 than for 0. No two values have the same.
XGBGPU_HD std::uint32_t DistinctKey(float value) {
  std::uint32_t const bits = FloatBits(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
/// Returns the value whose DistinctKey this is.
XGBGPU_HD float ValueOfKey(std::uint32_t key) { return FloatFromBits((key >> 31) != 0 ? key & 0x7FFFFFFFU : ~key); }
/// Returns a key that is larger for larger values and equal for equal ones: -0 is 0.
XGBGPU_HD std::uint32_t AscendingKey(float value) { return DistinctKey(value + 0.0f); }
/// Returns a key that is smaller for larger values and equal for equal ones: -0 is 0.
XGBGPU_HD std::uint32_t DescendingKey(float value) { return ~AscendingKey(value); }

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_FLOAT_BITS_H_
