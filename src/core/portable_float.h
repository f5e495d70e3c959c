/// Functions of a float that give the same float on every compiler, C library and device. They are evaluated in double
/// by +, -, * and bit moves in a fixed order, without contraction, and rounded once. They are shorter than the
/// functions of core/portable_math.h, because a float's accuracy is enough (tests/engine/core/portable_float_test.cc).
#ifndef XGBGPU_CORE_PORTABLE_FLOAT_H_
#define XGBGPU_CORE_PORTABLE_FLOAT_H_

#include <cstdint>

#include "base/hd.h"
#include "core/portable_math.h"

namespace xgbgpu {

/// Returns e^x, within 0.5 + 2^-12 units of the last place. It is +inf above ln FLT_MAX and 0 below -103.98; NaN is
/// passed on (its sign and payload may differ between backends). There are no branches, so that compilers turn loops
/// over it into vector instructions. It takes 24 double operations instead of PortableExp's 40, which counts on devices
/// with few double units.
XGBGPU_HD float PortableExpf(float x) {
  // Beyond the bounds the float result is +inf, or 0, anyway; NaN fails both comparisons.
  float const above = x < -104.0f ? -104.0f : x;
  double const clamped = above > 89.0f ? 89.0f : above;
  // x = k ln 2 + r. Adding 1.5 · 2^52 rounds to an integer and leaves k in the lowest bits of the sum. With |k| <= 151
  // the product k ln 2 is wrong by less than 2^-45, so |r| <= ln 2 / 2 + 2^-44.
  constexpr double kRounder = 6755399441055744.0;
  constexpr double kLn2 = 0.6931471805599453;
  double const shifted = clamped * detail::kInvLn2 + kRounder;
  double const r = clamped - (shifted - kRounder) * kLn2;
  // e^r by its Taylor series to r^9: the omitted rest is below r^10 / 10! · 1.04 < 2^-37, or 2^-36.5 of e^r >= 2^-1/2.
  // With the rounding of r and of the sums that is below 2^-36 of the result, or 2^-12 units of a float's last place.
  // Even and odd powers are summed apart, in two short chains of operations instead of a long one.
  double const s = r * r;
  double const even = ((1.0 / 40320.0 * s + 1.0 / 720.0) * s + 1.0 / 24.0) * s + 0.5;
  double const odd = ((1.0 / 362880.0 * s + 1.0 / 5040.0) * s + 1.0 / 120.0) * s + 1.0 / 6.0;
  double const e = 1.0 + (r + s * (even + r * odd));
  return static_cast<float>(e * detail::FromBits((detail::ToBits(shifted) + 1023) << 52));
}

/// Returns tanh x, within 0.5 + 2^-11 units of the last place. It is 1 for +inf and -1 for -inf; NaN is passed on.
/// There are no branches.
XGBGPU_HD float PortableTanhf(float x) {
  double const a = x < 0.0f ? -x : x;
  // tanh a = (1 - e^-2a) / (1 + e^-2a) = -m / (2 + m) with m = e^-2a - 1. From a = 9.1 on it is 1 as a float. NaN fails
  // the comparison.
  double const y = a > 20.0 ? -40.0 : -2.0 * a;
  // y = k ln 2 + r as in PortableExpf, and p = e^r - 1 is short of less than |r|^10 / 10! < 2^-35 |r|, |r| <= ln 2 / 2.
  // If k is 0, then m is p. Otherwise |m| > .29, and 2^k p + (2^k - 1) cancels no more than two bits.
  constexpr double kRounder = 6755399441055744.0;
  constexpr double kLn2 = 0.6931471805599453;
  double const shifted = y * detail::kInvLn2 + kRounder;
  double const r = y - (shifted - kRounder) * kLn2;
  double const s = r * r;
  double const even = ((1.0 / 40320.0 * s + 1.0 / 720.0) * s + 1.0 / 24.0) * s + 0.5;
  double const odd = ((1.0 / 362880.0 * s + 1.0 / 5040.0) * s + 1.0 / 120.0) * s + 1.0 / 6.0;
  double const p = r + s * (even + r * odd);
  double const power = detail::FromBits((detail::ToBits(shifted) + 1023) << 52);
  double const m = power * p + (power - 1.0);
  auto const tanh = static_cast<float>(-m / (2.0 + m));
  return x < 0.0f ? -tanh : tanh;
}

/// Returns ln(1 + x), within 0.5 + 2^-13 units of the last place. It is -inf for -1 and NaN below -1; +inf and NaN are
/// passed on.
XGBGPU_HD float PortableLog1pf(float x) {
  double const v = x;
  // The series leaves out less than x^3 / 4 < 2^-44 of the result.
  if (v < 0x1p-14 && v > -0x1p-14) return static_cast<float>(v * (1.0 - v * (0.5 - v * (1.0 / 3.0))));
  // Where |x| < 1, the sum is wrong by 2^-53 at most, that is by less than 2^-38 of the logarithm; elsewhere it is
  // wrong by 2^-53 of itself. A unit of a float's last place is at least 2^-24 of the float.
  return static_cast<float>(PortableLog(1.0 + v));
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_PORTABLE_FLOAT_H_
