/// Keys of rows whose gradients are not computed exactly unless they have to be.
///
/// A key is the upper bits of a float, so an estimate of the gradient nearly always tells it: if the least and the
/// largest value that it can stand for have the same key, so has what KeyOf would be given. The rest are looked at
/// exactly. What is estimated is the exponential, a hundred instructions otherwise.
#ifndef XGBGPU_SAMPLE_KEY_ESTIMATE_CUH_
#define XGBGPU_SAMPLE_KEY_ESTIMATE_CUH_

#include <cstdint>

#include "objective/objective_ops.h"
#include "sample/sample_ops.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kUnsureKey = kKeys;
constexpr int kBelowKey = 23 - kKeyBits;  ///< bits of a float that are not in a key

// As __expf, __fdividef and rsqrtf, but what is below 2^-126 is 0: that takes instructions to tell.
__device__ inline float FlushingExp(float x) {
  constexpr float kLog2E = 1.44269504f;
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * kLog2E));
  return result;
}
__device__ inline float FlushingReciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ inline float FlushingRsqrt(float x) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Is a float, whose bits are given, at least 2^kLow and less than 2^kHigh?
template <int kLow, int kHigh>
__device__ inline bool IsBetween(std::uint32_t bits) {
  return bits - (static_cast<std::uint32_t>(127 + kLow) << 23) < (static_cast<std::uint32_t>(kHigh - kLow) << 23);
}

/// KeyOf(loss(margin, label, weight), method), or kUnsureKey.
///
/// With m = 2^-24, half a unit in the last place at most, x the margin and u = e^x; errors are relative:
///
///   here       __expf has 2 + 1.173 |x| units, so u is wrong by t = (4 + 2.35 |x|) m. 1 + u is rounded, __fdividef has
///              2 units: q = 1 / (1 + u) is wrong by t p + 5 m, p = u q by t q + 6 m. With a product more, g = p w or
///              q w: t + 7 m; with three, h = p q w: t + 13 m.
///   the loss   e^-x has (1 + 2^-11) m, then there are a sum and a quotient: p is wrong by 3.01 m, hence 1 - p, which
///              is p / u, by 3.01 u m and its own m. g: 4.01 m or (2 + 3.01 u) m; h: (6.01 + 3.01 u) m.
///   the key    goss, g h: all of these, and a product on either side, 2 t + (33 + 6.02 u) m.
///              gradient_based: the larger error of the two, and on either side squares, their sum, a root, which
///              rsqrtf has to 2 units, and a product: t + (32 + 3.01 u) m.
///
/// Either is below (41 + 4.7 |x| + 6.02 u) m, and 2^-21 (6 + |x| + u) is (48 + 8 |x| + 8 u) m. What remains is for the
/// rounding of the bounds and for products of errors: keys are alike only if all this is below 2^-9. Numbers are normal
/// where they matter, with keys from 2^-40 to 2^40 and weights from 2^-20 to 2^20.
__device__ inline std::uint32_t EstimateKey(LogisticLoss const& loss, float margin, float label, float weight,
                                            SamplingMethod method) {
  float const w = ScaledWeight(label, weight, loss.scale_pos_weight);
  float const u = FlushingExp(margin);
  float const q = FlushingReciprocal(1.0f + u), p = u * q;
  float const g = (label == 1.0f ? q : p) * w, h = fmaxf(p * q, 1e-16f) * w;
  float key = g * h;
  if (method == SamplingMethod::kGradientBased) {
    float const square = g * g + 0.1f * (h * h);
    key = square * FlushingRsqrt(square);
  }
  float const error = 0x1p-21f * (6.0f + fabsf(margin) + u);
  std::uint32_t const least = __float_as_uint(__fmaf_rn(-key, error, key));
  std::uint32_t const largest = __float_as_uint(__fmaf_rn(key, error, key));
  // Bits of floats are in their order; those of negative ones and NaN are out of these ranges.
  bool const sure = (label == 0.0f || label == 1.0f) && IsBetween<-20, 20>(__float_as_uint(w)) &&
                    IsBetween<-40, 40>(least) && ((least ^ largest) >> kBelowKey) == 0;
  return sure ? least >> kBelowKey : kUnsureKey;
}

/// Other losses are short.
template <typename Loss>
__device__ inline std::uint32_t EstimateKey(Loss const& loss, float margin, float label, float weight,
                                            SamplingMethod method) {
  return KeyOf(loss(margin, label, weight), method);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_KEY_ESTIMATE_CUH_
