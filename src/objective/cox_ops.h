/// Maths of survival:cox: the partial likelihood of Cox's proportional hazards, with Breslow's treatment of ties.
///
/// A label's magnitude is a time. Its sign tells what ended then: the event if it is above 0, otherwise the
/// observation. Rows are walked in order of time. With E = e^F and D(t) = sum of E over rows of time t and later (the
/// rows at risk), row i has, over events k up to and including its place,
///   gradient = E · sum 1 / D_k - [event],  hessian = E · sum 1 / D_k - E² · sum 1 / D_k²
/// Events of the same time that come later in the order do not count, as in XGBoost.
///
/// Powers are relative to the largest margin: a constant that is added to all margins does not change gradients, and E
/// stays between e^-kCoxRange and 1.
#ifndef XGBGPU_OBJECTIVE_COX_OPS_H_
#define XGBGPU_OBJECTIVE_COX_OPS_H_

#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "core/portable_math.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns a key that orders like times. 0 and -0 have equal keys.
XGBGPU_HD std::uint32_t TimeKey(float label) { return MagnitudeBits(label); }

/// Largest distance to the largest margin: a smaller margin is raised to it, because 1 / D² would overflow.
constexpr double kCoxRange = 300.0;

/// Returns e^(margin - largest), at least e^-kCoxRange. NaN stays NaN.
XGBGPU_HD double CoxPower(float margin, float largest) {
  double const relative = static_cast<double>(margin) - static_cast<double>(largest);
  return PortableExp(relative < -kCoxRange ? -kCoxRange : relative);
}

/// Sums over events.
struct CoxSums {
  double inverse;         ///< of 1 / D
  double inverse_square;  ///< of 1 / D²
};
XGBGPU_HD CoxSums operator+(CoxSums const& a, CoxSums const& b) {
  return {a.inverse + b.inverse, a.inverse_square + b.inverse_square};
}

XGBGPU_HD CoxSums CoxTerm(float label, double at_risk) {
  if (!(label > 0.0f)) return {0.0, 0.0};
  return {1.0 / at_risk, 1.0 / (at_risk * at_risk)};
}

XGBGPU_HD GradientPair CoxGradient(double power, CoxSums const& sums, float label, float weight) {
  double const expected = power * sums.inverse;
  double const grad = expected - (label > 0.0f ? 1.0 : 0.0);
  double const hess = expected - power * power * sums.inverse_square;
  double const w = weight;
  return {static_cast<float>(grad * w), static_cast<float>(hess * w)};
}

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_COX_OPS_H_
