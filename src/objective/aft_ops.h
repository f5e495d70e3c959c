/// Per-row maths of survival:aft.
///
/// From  Barnwal, Cho, Hocking, "Survival regression with accelerated failure time model in XGBoost", 2020
#ifndef XGBGPU_OBJECTIVE_AFT_OPS_H_
#define XGBGPU_OBJECTIVE_AFT_OPS_H_

#include <cfloat>
#include <cstdint>

#include "base/hd.h"
#include "core/portable_math.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

XGBGPU_HD bool HasOverflowed(double x) { return x > DBL_MAX || x < -DBL_MAX; }

/// A distribution function and its derivatives at one point.
struct NoiseAt {
  double cdf, pdf, pdf_slope, pdf_curvature;
};

/// Stock XGBoost's value of a derivative if its formula has become 0 / 0 or x / 0: `above` if the bounds lie above the
/// margin, `below` otherwise. It is 0 for rows without a bound on that side.
struct AftLimits {
  double above, below;
};

// The formulas are stock's, in double like stock's. 1 - cdf loses digits far above 0, and so do stock's gradients.

struct NormalNoise {
  XGBGPU_HD static NoiseAt At(double z) {
    constexpr double kRootTwo = 1.4142135623730951, kRootTwoPi = 2.5066282746310002;
    double const pdf = PortableExp(-z * z / 2.0) / kRootTwoPi;
    return {0.5 * (1.0 + PortableErf(z / kRootTwo)), pdf, -z * pdf, (z * z - 1.0) * pdf};
  }
  XGBGPU_HD static AftLimits OfGradient(double) { return {-15.0, 15.0}; }
  XGBGPU_HD static AftLimits OfHessian(double scale) { return {1.0 / (scale * scale), 1.0 / (scale * scale)}; }
};

struct LogisticNoise {
  XGBGPU_HD static NoiseAt At(double z) {
    double const w = PortableExp(z), next = 1.0 + w;
    if (HasOverflowed(w)) return {1.0, 0.0, 0.0, 0.0};
    if (HasOverflowed(w * w)) return {w / next, 0.0, 0.0, 0.0};
    double const pdf = w / (next * next);
    return {w / next, pdf, pdf * (1.0 - w) / next, pdf * (w * w - 4.0 * w + 1.0) / (next * next)};
  }
  XGBGPU_HD static AftLimits OfGradient(double scale) { return {-1.0 / scale, 1.0 / scale}; }
  XGBGPU_HD static AftLimits OfHessian(double) { return {1e-16, 1e-16}; }
};

struct ExtremeNoise {
  XGBGPU_HD static NoiseAt At(double z) {
    double const w = PortableExp(z);
    if (HasOverflowed(w)) return {1.0, 0.0, 0.0, 0.0};
    double const rest = PortableExp(-w), pdf = w * rest;
    double const curvature = HasOverflowed(w * w) ? 0.0 : (w * w - 3.0 * w + 1.0) * pdf;
    return {1.0 - rest, pdf, (1.0 - w) * pdf, curvature};
  }
  XGBGPU_HD static AftLimits OfGradient(double scale) { return {-15.0, 1.0 / scale}; }
  XGBGPU_HD static AftLimits OfHessian(double) { return {15.0, 1e-16}; }
};

/// (margin, bounds of the survival time, weight) → gradient and hessian, times the weight. Equal bounds mean a known
/// time. An infinite upper bound and a lower bound of 0 (or less) mean no bound.
template <typename Noise>
struct AftGradients {
  double scale;

  XGBGPU_HD GradientPair operator()(float margin, float lower, float upper, float weight) const {
    // The likelihood of the row, up to a factor, and its derivatives by z: a density, or the probability between
    // bounds.
    double value, slope, curvature;
    bool above, has_lower = true, has_upper = true;
    if (lower == upper) {
      double const z = (PortableLog(lower) - margin) / scale;
      NoiseAt const at = Noise::At(z);
      value = at.pdf, slope = at.pdf_slope, curvature = at.pdf_curvature;
      above = z > 0.0;
    } else {
      has_lower = !(lower <= 0.0f);
      has_upper = has_lower ? !HasOverflowed(upper) : true;  // without any bound stock assumes an upper bound
      NoiseAt high{1.0, 0.0, 0.0, 0.0}, low{0.0, 0.0, 0.0, 0.0};
      double z_high = 0.0, z_low = 0.0;
      if (!HasOverflowed(upper)) {
        z_high = (PortableLog(upper) - margin) / scale;
        high = Noise::At(z_high);
      }
      if (has_lower) {
        z_low = (PortableLog(lower) - margin) / scale;
        low = Noise::At(z_low);
      }
      value = high.cdf - low.cdf, slope = high.pdf - low.pdf, curvature = high.pdf_slope - low.pdf_slope;
      above = z_high > 0.0 || z_low > 0.0;
    }
    bool const has_side = above ? has_lower : has_upper;
    double const grad_limit = has_side ? Side(Noise::OfGradient(scale), above) : 0.0;
    double const hess_limit = has_side ? Side(Noise::OfHessian(scale), above) : kLeastHessian;
    double const unit = scale * value;
    double const grad = Bounded(Ratio(slope, unit, grad_limit), -15.0, 15.0);
    double const hess =
        Bounded(Ratio(-(value * curvature - slope * slope), unit * unit, hess_limit), kLeastHessian, 15.0);
    return {static_cast<float>(grad) * weight, static_cast<float>(hess) * weight};
  }

 private:
  static constexpr double kLeastHessian = 1e-16;

  XGBGPU_HD static double Side(AftLimits const& limits, bool above) { return above ? limits.above : limits.below; }
  XGBGPU_HD static double Ratio(double numerator, double denominator, double limit) {
    double const ratio = numerator / denominator;
    return denominator < 1e-12 && (ratio != ratio || HasOverflowed(ratio)) ? limit : ratio;
  }
  /// Returns x, limited to [low, high]. NaN stays NaN.
  XGBGPU_HD static double Bounded(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
};

/// Calls f with the loss of survival:aft.
template <typename F>
void VisitAft(ObjectiveParams const& params, F&& f) {
  switch (params.aft_distribution) {
    case AftDistribution::kNormal:
      return f(AftGradients<NormalNoise>{params.aft_scale});
    case AftDistribution::kLogistic:
      return f(AftGradients<LogisticNoise>{params.aft_scale});
    case AftDistribution::kExtreme:
      return f(AftGradients<ExtremeNoise>{params.aft_scale});
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_AFT_OPS_H_
