/// Gradients in fixed point: every sum is exact, and none depends on the order.
///
/// A gradient v becomes the integer q = round(v · 2^shift). Two formats, chosen per tree by gradient/gradient.h:
///
///   narrow   |q| <= 2^14, 16 bits each. Rounded at random, unbiased, by a draw that depends on (seed, tree, row) only.
///   wide     |q| <= 2^w, w = min(45, 62 - ceil(log2 rows)). Rounded to nearest, but hessians above 0 to 1 at least.
///   With w = 45 a value of at least 2^-21 of the largest gradient is exact, because a float has 24 significant bits.
///
/// Overflow proof. Let n = rows <= 2^32. The shift makes max|v| · 2^shift < 2^w (w = 14 or as above), and rounding
/// goes up to 2^w at most, as does a unit. A sum over any subset of rows is then at most n · 2^w in magnitude:
///   narrow   2^32 · 2^14 = 2^46 < 2^63
///   wide     n · 2^(62 - ceil(log2 n)) <= 2^62 < 2^63
/// A difference of two such sums (sibling = parent - child) is a sum over a subset of rows, too, with the same bound.
/// Narrow sums kept as two 32-bit halves of one word (histogram/histogram_ops.h) cover at most 2^16 rows:
///   2^16 · 2^14 = 2^30 < 2^31.
#ifndef XGBGPU_CORE_FIXED_POINT_H_
#define XGBGPU_CORE_FIXED_POINT_H_

#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "core/portable_math.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

constexpr int kNarrowBits = 14;
/// Most rows whose narrow gradients fit a sum of 32 bits.
constexpr std::uint32_t kMostNarrowSumRows = 1 << 16;
constexpr int kWideBits = 45;

/// The gradient of one row in the narrow format: a 32-bit record.
struct alignas(4) NarrowGradient {
  std::int16_t grad;
  std::int16_t hess;
};

/// An element of a node's row list. In the narrow format it carries the row's gradient, so that only bins are looked up
/// by row. In the wide format the gradient is unused.
struct RowRecord {
  RowIndex row;
  NarrowGradient gradient;
};

/// The format of a tree's integers: value = integer · 2^-shift.
struct GradientFormat {
  bool narrow{false};
  int grad_shift{0};
  int hess_shift{0};
};

/// Returns the least b with n <= 2^b.
XGBGPU_HD int CeilLog2(std::uint64_t n) {
  int bits = 0;
  while (bits < 63 && (std::uint64_t{1} << bits) < n) ++bits;
  return bits;
}

/// Returns value · 2^k for |k| <= 2000. Multiplies twice: 2^k itself may not be a normal number.
XGBGPU_HD double ScaleByPowerOfTwo(double value, int k) {
  int const half = k / 2;
  return value * detail::PowerOfTwo(half) * detail::PowerOfTwo(k - half);
}

/// Returns the integer nearest to v · 2^shift, ties to even. The product is exact, so only one rounding happens.
/// |result| <= 2^45.
XGBGPU_HD std::int64_t RoundToNearest(float v, double scale) {
  double const x = static_cast<double>(v) * scale;
  constexpr double kMagic = 6755399441055744.0;  // 1.5 · 2^52: adding it leaves no room for a fraction
  return static_cast<std::int64_t>((x + kMagic) - kMagic);
}

/// A power of two to multiply floats by, in two factors: the power itself may not be a float.
struct FloatScale {
  float first;
  float second;
};

/// Returns 2^k for |k| <= 252.
XGBGPU_HD FloatScale MakeFloatScale(int k) {
  auto const power = [](int n) { return FloatFromBits(static_cast<std::uint32_t>(n + 127) << 23); };
  int const half = k / 2;
  return {power(half), power(k - half)};
}

/// Returns v · 2^k. Exact unless the result is subnormal; order is preserved. On a device floats are several times as
/// fast as doubles here and in the conversion to integers.
XGBGPU_HD float Scaled(float v, FloatScale scale) { return v * scale.first * scale.second; }

/// Returns the largest integer that is not above x, |x| < 2^31.
XGBGPU_HD std::int32_t Floor(float x) {
#if defined(__CUDA_ARCH__)
  return __float2int_rd(x);
#else
  auto const truncated = static_cast<std::int32_t>(x);
  return truncated - (static_cast<float>(truncated) > x ? 1 : 0);
#endif
}

/// Returns the scale of RoundAtRandom: 2^(shift + 17).
XGBGPU_HD FloatScale MakeNarrowScale(int shift) { return MakeFloatScale(shift + 17); }

/// Returns floor(v · 2^shift + u), u uniform among the middles of 2^16 equal parts of [0, 1). The expectation is
/// v · 2^shift to within 2^-17. |v · 2^shift| < 2^14.
///
/// u = (random16 + 1/2) / 2^16. With y = v · 2^(shift + 16) the result is floor((y + 1/2 + random16) / 2^16). Only the
/// integer part of y + 1/2 matters, and it is the integer part of (floor(2 y) + 1) / 2.
XGBGPU_HD std::int32_t RoundAtRandom(float v, FloatScale scale, std::uint32_t random16) {
  // The number may be too large if its format was predicted and is not used.
  auto const next = static_cast<std::int32_t>(static_cast<std::uint32_t>(Floor(Scaled(v, scale))) + 1U);
  return ((next >> 1) + static_cast<std::int32_t>(random16)) >> 16;
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_FIXED_POINT_H_
