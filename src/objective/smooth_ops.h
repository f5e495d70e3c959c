/// Losses of XGBoost 3.4 that are smooth around 0: per-row maths, and the scale that all rows decide.
///
/// s of an output is the square of the weighted mean of sqrt(|margin - label|) over all rows. Sums are of integers: a
/// term v >= 0 becomes q = floor(v · 2^shift) < 2^60, where the largest term of all rows decides the shift. q has two
/// halves of 30 bits, which are added up apart: sums over up to 2^32 rows stay below 2^62.
#ifndef XGBGPU_OBJECTIVE_SMOOTH_OPS_H_
#define XGBGPU_OBJECTIVE_SMOOTH_OPS_H_

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "core/fixed_point.h"
#include "core/portable_float.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

/// Sums of the halves of integers.
struct TermSum {
  std::int64_t high{0}, low{0};
};

constexpr int kTermBits = 60, kHalfBits = 30;

/// Returns a term, or 0 if it is negative, infinite or NaN.
XGBGPU_HD double TermOf(double term) { return term > 0.0 && term <= DBL_MAX ? term : 0.0; }
/// Returns a row's term, weight · sqrt(|margin - label|), as a float like XGBoost's unless a float is too small for it.
XGBGPU_HD double TermOf(float margin, float label, float weight) {
  float const root = std::sqrt(std::fabs(margin - label));
  float const term = weight * root;
  return TermOf(term <= FLT_MAX ? static_cast<double>(term) : static_cast<double>(weight) * root);
}

/// Returns the exponent of a term as its bits have it: one more for twice the term, and 0 for 0. Terms are 0 or at
/// least 2^-149, and below 2^192.
XGBGPU_HD std::uint32_t ExponentOf(double term) { return static_cast<std::uint32_t>(detail::ToBits(term) >> 52); }

/// Returns the shift for terms whose largest has this exponent.
XGBGPU_HD int TermShift(std::uint32_t exponent) {
  return exponent == 0 ? 0 : kTermBits - 1 + 1023 - static_cast<int>(exponent);
}

/// `power`: 2^shift.
XGBGPU_HD void AddTerm(double term, double power, TermSum* sum) {
  auto const q = static_cast<std::int64_t>(term * power);
  sum->high += q >> kHalfBits;
  sum->low += q & ((std::int64_t{1} << kHalfBits) - 1);
}

/// Returns a sum of terms from the sums of their halves.
XGBGPU_HD double ValueOf(TermSum const& sum, int shift) {
  double const value = static_cast<double>(sum.high) * (1 << kHalfBits) + static_cast<double>(sum.low);
  return ScaleByPowerOfTwo(value, -shift);
}

/// Returns s from the sums of terms and of weights. Like XGBoost it is 0 if the weights add up to nearly nothing.
XGBGPU_HD float ScaleOf(double terms, double weights) {
  if (weights < 1e-6) return 0.0f;
  double const root = terms / weights;
  return static_cast<float>(root * root);
}

struct SmoothAbsoluteErrorLoss {
  float scale;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const d = margin - label;
    double const s = scale, wide = d;
    auto const norm = static_cast<float>(std::sqrt(s * s + wide * wide));
    float const curvature = norm > 0.0f ? scale / norm : 1.0f;
    return {weight * d * curvature, weight * curvature};
  }
};

struct SmoothQuantileLoss {
  float alpha, scale;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    constexpr float kWidth = 0.04f, kLeastRatio = 3e-4f;
    float const d = margin - label, width = kWidth * scale;
    float const x = d / width;
    float const tanh = PortableTanhf(x);
    float const of_x = tanh / x;
    float const ratio = x == 0.0f ? 1.0f : of_x > kLeastRatio ? of_x : kLeastRatio;
    float const grad = 0.5f * scale * (tanh + 1.0f - 2.0f * alpha);
    float const hess = 0.5f / kWidth * ratio;
    bool const counts = width > 0.0f && weight != 0.0f;
    // 0 · d is 0 unless d is infinite or NaN, and the row has no term.
    return {counts ? weight * grad + 0.0f * d : 0.0f, counts ? weight * hess : 0.0f};
  }
};

/// Calls f with the loss of an objective with a scale, of one output.
template <typename F>
void VisitScaledLoss(ObjectiveParams const& params, std::uint32_t output, float scale, F&& f) {
  if (params.kind == Objective::kSmoothAbsoluteError) return f(SmoothAbsoluteErrorLoss{scale});
  f(SmoothQuantileLoss{params.alphas[output], scale});
}

/// Writes the margins of a row to `out` in ascending order. `out` may be `margins`. NaN compares as not larger.
XGBGPU_HD void SortRow(OutputView<float const> const& margins, std::uint64_t row, OutputView<float> const& out) {
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    float const value = margins.at(row, k);
    std::uint32_t place = k;
    for (; place > 0 && out.at(row, place - 1) > value; --place) out.at(row, place) = out.at(row, place - 1);
    out.at(row, place) = value;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_SMOOTH_OPS_H_
