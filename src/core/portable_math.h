/// exp, log and relatives that give the same bits on every compiler, C library and device: only +, -, *, / and bit
/// moves, in a fixed order, compiled without contraction. exp and log stay within 1 ulp of the true value
/// (tests/engine/core/portable_math_test.cc). All other functions give their error bounds.
///
/// From  Cody & Waite, "Software Manual for the Elementary Functions" (1980): range reduction by a two-part ln 2
#ifndef XGBGPU_CORE_PORTABLE_MATH_H_
#define XGBGPU_CORE_PORTABLE_MATH_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"

namespace xgbgpu {

namespace detail {

XGBGPU_HD double FromBits(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

XGBGPU_HD std::uint64_t ToBits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Returns 2^k for -1022 <= k <= 1023.
XGBGPU_HD double PowerOfTwo(int k) { return FromBits(static_cast<std::uint64_t>(k + 1023) << 52); }

constexpr double kLn2High = 6.93147180369123816490e-01;  // upper 32 bits of ln 2: k · kLn2High is exact for |k| < 2^20
constexpr double kLn2Low = 1.90821492927058770002e-10;   // ln 2 - kLn2High
constexpr double kInvLn2 = 1.44269504088896338700e+00;

}  // namespace detail

/// Returns e^x. It is +inf above 709.78 and 0 below -745.13; NaN is passed on.
XGBGPU_HD double PortableExp(double x) {
  if (x != x) return x;
  if (x > 709.782712893384) return detail::FromBits(0x7FF0000000000000U);
  if (x < -745.1332191019412) return 0.0;
  // x = k ln 2 + r, |r| <= ln 2 / 2; r has two parts, so that its rounding error is known.
  double const shifted = x * detail::kInvLn2 + (x < 0.0 ? -0.5 : 0.5);
  int const k = static_cast<int>(shifted);
  double const high = x - k * detail::kLn2High;
  double const low = k * detail::kLn2Low;
  double const r = high - low;
  double const error = (high - r) - low;
  // e^r by its Taylor series to r^13, Horner's rule: the omitted rest is |r|^14 / 14! < 2^-57 of e^r.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  double const e = 1.0 + (r + (r * r * p + error));
  // 2^k in two factors: k may lie outside the exponents of normal numbers.
  int const half = k / 2;
  return e * detail::PowerOfTwo(half) * detail::PowerOfTwo(k - half);
}

/// Returns the natural logarithm. It is -inf for 0 and NaN below 0; +inf and NaN are passed on.
XGBGPU_HD double PortableLog(double x) {
  std::uint64_t bits = detail::ToBits(x);
  if (x != x || bits == 0x7FF0000000000000U) return x;
  if (x < 0.0) return detail::FromBits(0x7FF8000000000000U);
  if (x == 0.0) return detail::FromBits(0xFFF0000000000000U);
  int k = 0;
  if (bits < 0x0010000000000000U) {  // denormal
    bits = detail::ToBits(x * 18014398509481984.0);
    k = -54;
  }
  k += static_cast<int>(bits >> 52) - 1023;
  double m = detail::FromBits((bits & 0x000FFFFFFFFFFFFFU) | 0x3FF0000000000000U);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  // ln m = 2 artanh(s), s = f / (2 + f), f = m - 1 exact. With |s| < 0.1716 the series leaves out less than 1.04 · s^24
  // / 25 < 2^-65 of the result after s^23. With w = s·(f²/2 + z·q), ln m = f - (f²/2 - w) keeps the large term f exact.
  double const f = m - 1.0;
  double const s = f / (2.0 + f);
  double const z = s * s;
  double q = 2.0 / 23.0;
  q = q * z + 2.0 / 21.0;
  q = q * z + 2.0 / 19.0;
  q = q * z + 2.0 / 17.0;
  q = q * z + 2.0 / 15.0;
  q = q * z + 2.0 / 13.0;
  q = q * z + 2.0 / 11.0;
  q = q * z + 2.0 / 9.0;
  q = q * z + 2.0 / 7.0;
  q = q * z + 2.0 / 5.0;
  q = q * z + 2.0 / 3.0;
  double const half_square = 0.5 * f * f;
  double const w = s * (half_square + z * q);
  return k * detail::kLn2High - ((half_square - (w + k * detail::kLn2Low)) - f);
}

/// Returns ln Γ(x) for x >= 0, off by at most 2^-46 + 2^-50 · |ln Γ(x)|. It is +inf for 0 and above 1e300, and NaN
/// below 0 (Γ has poles there). NaN is passed on.
XGBGPU_HD double PortableLogGamma(double x) {
  if (x != x || x < 0.0) return detail::FromBits(0x7FF8000000000000U);
  if (x == 0.0 || x > 1e300) return detail::FromBits(0x7FF0000000000000U);
  if (x == 1.0 || x == 2.0) return 0.0;
  // Γ(x) = Γ(x + n) / (x (x + 1) … (x + n - 1)) leads to z >= 10. The product stays at or below 10! < 2^22, and its
  // logarithm below 16. Logarithms, sums and differences of numbers below 32 (for z < 12) are off by less than 2^-49
  // each, and there are less than 8.
  double product = 1.0;
  double z = x;
  while (z < 10.0) {
    product *= z;
    z += 1.0;
  }
  // Stirling's series has the coefficients B_2k / (2k (2k - 1)). After 1 / z^15 the first term left out bounds the
  // error: 43867 / (798 · 18 · 17) / 10^17 < 2^-58.
  double const inverse = 1.0 / z;
  double const w = inverse * inverse;
  double series = -3617.0 / 122400.0;
  series = series * w + 1.0 / 156.0;
  series = series * w - 691.0 / 360360.0;
  series = series * w + 1.0 / 1188.0;
  series = series * w - 1.0 / 1680.0;
  series = series * w + 1.0 / 1260.0;
  series = series * w - 1.0 / 360.0;
  series = series * w + 1.0 / 12.0;
  constexpr double kHalfLogTwoPi = 9.18938533204672741780e-01;
  double const stirling = ((z - 0.5) * PortableLog(z) - z) + (kHalfLogTwoPi + series * inverse);
  return product == 1.0 ? stirling : stirling - PortableLog(product);
}

/// Returns the error function, within 2.5 ulp; NaN is passed on.
XGBGPU_HD double PortableErf(double x) {
  if (x != x) return x;
  double const a = x < 0.0 ? -x : x;
  if (a < 1.0) {
    // The Taylor series is 2/sqrt(pi) · sum (-1)^n x^(2n+1) / (n! (2n+1)): the omitted rest is below
    // 1 / (18! · 37) < 2^-57. The terms behind x shrink it by less than a third, so their rounding counts less than
    // x's.
    constexpr double kTwoOverRootPi = 1.1283791670955126;
    double const w = x * x;
    double p = -1.0 / 12449059983360000.0;  // 17! · 35
    p = p * w + 1.0 / 690452066304000.0;    // 16! · 33
    p = p * w - 1.0 / 40537905408000.0;
    p = p * w + 1.0 / 2528170444800.0;
    p = p * w - 1.0 / 168129561600.0;
    p = p * w + 1.0 / 11975040000.0;
    p = p * w - 1.0 / 918086400.0;
    p = p * w + 1.0 / 76204800.0;
    p = p * w - 1.0 / 6894720.0;
    p = p * w + 1.0 / 685440.0;
    p = p * w - 1.0 / 75600.0;
    p = p * w + 1.0 / 9360.0;
    p = p * w - 1.0 / 1320.0;
    p = p * w + 1.0 / 216.0;
    p = p * w - 1.0 / 42.0;
    p = p * w + 1.0 / 10.0;
    p = p * w - 1.0 / 3.0;
    return kTwoOverRootPi * (x + x * (w * p));
  }
  if (a > 5.95) return x < 0.0 ? -1.0 : 1.0;  // 1 - erf(5.95) < 2^-54
  // 1 - erf(a) = a e^-a² / pi · integral of e^-t² / (t² + a²) over all t (Chiarella & Reichel 1968). The
  // trapezoidal rule with step 1/2, whose last term takes care of the poles t = ±ia, is wrong by about e^-(2 pi)² =
  // 2^-57 of it. The sum ends where e^-t² < 2^-60. An error of 1 - erf(a) < 0.16 hardly shows in erf(a).
  constexpr double kPowers[] = {// e^-(n/2)²
                                0.7788007830714049,     0.36787944117144233,    0.10539922456186433,
                                0.01831563888873418,    0.0019304541362277093,  0.00012340980408667956,
                                4.785117392129009e-06,  1.1253517471925912e-07, 1.6052280551856116e-09,
                                1.3887943864964021e-11, 7.287724095819692e-14,  2.3195228302435696e-16};
  double const w = a * a;
  double sum = 0.0;
  for (int n = 12; n >= 1; --n) sum += kPowers[n - 1] / (0.25 * (n * n) + w);
  sum = 2.0 * sum + 1.0 / w;
  constexpr double kInvTwoPi = 0.15915494309189535, kFourPi = 12.566370614359172;
  double const complement = a * PortableExp(-w) * kInvTwoPi * sum - 2.0 / (PortableExp(kFourPi * a) - 1.0);
  return x < 0.0 ? complement - 1.0 : 1.0 - complement;
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_PORTABLE_MATH_H_
