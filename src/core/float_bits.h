/// The bits of floats, and unsigned integers that compare as floats do: what radix sorts, and maxima of words, go by.
#ifndef XGBGPU_CORE_FLOAT_BITS_H_
#define XGBGPU_CORE_FLOAT_BITS_H_

#include <cstdint>
#include <cstring>

#include "core/hd.h"

namespace xgbgpu {

/// Those of floats that are not negative compare as the floats do.
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

/// |value| as an integer that orders like |value|. NaN and infinity come out at or above kNotFiniteBits.
XGBGPU_HD std::uint32_t MagnitudeBits(float value) { return FloatBits(value) & 0x7FFFFFFFU; }
constexpr std::uint32_t kNotFiniteBits = 0x7F800000U;

// Of NaNs all keys are at one end or the other, since their sign is up to the processor.

/// Larger for larger values, and less for -0 than for 0: each value has its own.
XGBGPU_HD std::uint32_t DistinctKey(float value) {
  std::uint32_t const bits = FloatBits(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
/// The value whose DistinctKey this is.
XGBGPU_HD float ValueOfKey(std::uint32_t key) { return FloatFromBits((key >> 31) != 0 ? key & 0x7FFFFFFFU : ~key); }
/// Larger for larger values, equal for equal ones: -0 is 0.
XGBGPU_HD std::uint32_t AscendingKey(float value) { return DistinctKey(value + 0.0f); }
/// Smaller for larger values, equal for equal ones.
XGBGPU_HD std::uint32_t DescendingKey(float value) { return ~AscendingKey(value); }

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_FLOAT_BITS_H_
