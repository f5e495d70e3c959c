/// Per-row maths of the gradient stage.
#ifndef XGBGPU_GRADIENT_GRADIENT_OPS_H_
#define XGBGPU_GRADIENT_GRADIENT_OPS_H_

#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "core/fixed_point.h"
#include "gradient/gradient.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns the smallest e with v < 2^e for the v > 0 with MagnitudeBits `bits`.
XGBGPU_HD int ExponentAbove(std::uint32_t bits) {
  if (bits >= 0x00800000U) return static_cast<int>(bits >> 23) - 126;
  int e = -149;
  while (bits != 0) {
    bits >>= 1;
    ++e;
  }
  return e;
}

/// Returns |v| in units of 2^(exponent - 20), rounded down: at most 2^20, so that sums over 2^32 rows fit 53 bits.
XGBGPU_HD std::int32_t CoarseMagnitude(float v, FloatScale coarse_scale) {
  return static_cast<std::int32_t>(Scaled(v < 0 ? -v : v, coarse_scale));
}

struct NarrowScales {
  FloatScale grad;
  FloatScale hess;
};
XGBGPU_HD NarrowScales MakeNarrowScales(GradientFormat format) {
  return {MakeNarrowScale(format.grad_shift), MakeNarrowScale(format.hess_shift)};
}

/// Returns the narrow record of one row. Its random word gives the low 16 bits to the gradient and the high 16 to the
/// hessian.
XGBGPU_HD NarrowGradient QuantiseNarrow(GradientPair v, NarrowScales const& scales, std::uint32_t random) {
  return {static_cast<std::int16_t>(RoundAtRandom(v.grad, scales.grad, random & 0xFFFFU)),
          static_cast<std::int16_t>(RoundAtRandom(v.hess, scales.hess, random >> 16))};
}

/// Returns the wide pair of one row. A hessian above 0 becomes at least one unit, so no sum of positive hessians is 0,
/// which neither a side of a split nor a leaf may have.
XGBGPU_HD GradientSum QuantiseWide(GradientPair v, double grad_scale, double hess_scale) {
  std::int64_t const hess = RoundToNearest(v.hess, hess_scale);
  return {RoundToNearest(v.grad, grad_scale), hess == 0 && v.hess > 0.0f ? 1 : hess};
}

/// Returns true if the row's hessian vanishes in the narrow format (gradient.h).
XGBGPU_HD bool HessianVanishes(GradientPair v, NarrowScales const& scales) {
  constexpr float kUnit = 1 << 17;  // in MakeNarrowScale
  float const grad = Scaled(v.grad < 0 ? -v.grad : v.grad, scales.grad), hess = Scaled(v.hess, scales.hess);
  return v.hess > 0.0f && hess < kUnit && grad > kNarrowApart * hess;
}

/// Returns true if min_child_weight is large enough that hessians may vanish in the narrow format. `hess_max` has the
/// MagnitudeBits of the largest hessian.
XGBGPU_HD bool MayVanish(float min_child_weight, std::uint32_t hess_max) {
  int const shift = kNarrowBits - ExponentAbove(hess_max);
  return ScaleByPowerOfTwo(static_cast<double>(min_child_weight), shift) >= kNarrowLeastWeight;
}

/// Returns true if sums of CoarseMagnitude over `rows` rows allow the narrow format.
XGBGPU_HD bool MayBeNarrow(GradientSum coarse, std::uint64_t rows) {
  std::int64_t const least = static_cast<std::int64_t>(rows) * ((1 << 20) / kNarrowPeak);
  return coarse.grad >= least && coarse.hess >= least && coarse.grad >= coarse.hess / kNarrowApart &&
         coarse.hess >= coarse.grad / kNarrowApart;
}

/// Returns true only if MayBeNarrow is certainly true, from the sums of magnitudes in the narrow format of the
/// gradients' own maxima. It is nearly always true if MayBeNarrow is: an integer |q| means more than |q| - 1 and less
/// than |q| + 1 units of 2^(exponent - kNarrowBits), and a unit has a CoarseMagnitude of 2^(20 - kNarrowBits).
XGBGPU_HD bool MustBeNarrow(GradientSum magnitudes, std::uint64_t rows) {
  constexpr std::int64_t kUnit = 1 << (20 - kNarrowBits);
  auto const n = static_cast<std::int64_t>(rows);
  GradientSum const low{(magnitudes.grad - n) * kUnit, (magnitudes.hess - n) * kUnit};
  GradientSum const high{(magnitudes.grad + n) * kUnit, (magnitudes.hess + n) * kUnit};
  return MayBeNarrow({low.grad, high.hess}, rows) && MayBeNarrow({high.grad, low.hess}, rows);
}

/// Returns true if the sums over `rows` rows allow the narrow format. `maxima` belong to the same rows.
XGBGPU_HD bool MayBeNarrow(FormatSums const& sums, std::uint64_t rows, float min_child_weight, GradientMaxima maxima) {
  return MayBeNarrow(sums.coarse, rows) && (sums.vanishing == 0 || MayVanish(min_child_weight, maxima.hess));
}

/// Returns true only if the hessians of `rows` rows have one magnitude, a power of two. `coarse` is the sum of their
/// CoarseMagnitude, `hess_max` the MagnitudeBits of the largest. A power of two is the least magnitude with its
/// CoarseMagnitude.
XGBGPU_HD bool AreHessiansAlike(std::int64_t coarse, std::uint64_t rows, std::uint32_t hess_max) {
  bool const power_of_two = hess_max >= 0x00800000U && (hess_max & 0x007FFFFFU) == 0;
  return power_of_two && coarse == static_cast<std::int64_t>(rows << 19);
}

/// Returns true if two maxima give the same scales, CoarseScale and the narrow format's. Maxima that are not finite or
/// are 0, as before the first tree, equal no other maxima.
XGBGPU_HD bool AreAlike(GradientMaxima a, GradientMaxima b) {
  auto const alike = [](std::uint32_t m, std::uint32_t n) {
    return m != 0 && m < kNotFiniteBits && n < kNotFiniteBits && ExponentAbove(m) == ExponentAbove(n);
  };
  return alike(a.grad, b.grad) && alike(a.hess, b.hess);
}

/// Returns the factor of CoarseMagnitude for a largest value with these MagnitudeBits.
XGBGPU_HD FloatScale CoarseScale(std::uint32_t max_bits) { return MakeFloatScale(20 - ExponentAbove(max_bits)); }

/// Returns the bits of the wide format for `rows` gradients.
XGBGPU_HD int WideBits(std::uint64_t rows) {
  int const wide = 62 - CeilLog2(rows);
  return wide < kWideBits ? wide : kWideBits;
}

/// Returns the format for `rows` gradients with these largest MagnitudeBits: narrow only if `narrow` allows it.
XGBGPU_HD GradientFormat MakeGradientFormat(std::uint64_t rows, std::uint32_t grad_max, std::uint32_t hess_max,
                                            bool narrow) {
  int const bits = narrow ? kNarrowBits : WideBits(rows);
  return {narrow, bits - ExponentAbove(grad_max), bits - ExponentAbove(hess_max)};
}

}  // namespace xgbgpu

#endif  // XGBGPU_GRADIENT_GRADIENT_OPS_H_
