/// Terms of one row in metrics of survival times, in double like stock's.
#ifndef XGBGPU_METRIC_SURVIVAL_OPS_H_
#define XGBGPU_METRIC_SURVIVAL_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "core/portable_math.h"
#include "metric/metric_sum.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

XGBGPU_HD bool IsInfinite(double x) { return x > 1.7976931348623157e308; }

struct NormalDistribution {
  static XGBGPU_HD double Density(double z) {
    constexpr double kSqrtTwoPi = 2.50662827463100050242e+00;
    return PortableExp(-z * z / 2.0) / kSqrtTwoPi;
  }
  static XGBGPU_HD double Probability(double z) {
    constexpr double kSqrtTwo = 1.41421356237309504880e+00;
    return 0.5 * (1.0 + PortableErf(z / kSqrtTwo));
  }
};

struct LogisticDistribution {
  static XGBGPU_HD double Density(double z) {
    double const w = PortableExp(z);
    return IsInfinite(w * w) ? 0.0 : w / ((1.0 + w) * (1.0 + w));
  }
  static XGBGPU_HD double Probability(double z) {
    double const w = PortableExp(z);
    return IsInfinite(w) ? 1.0 : w / (1.0 + w);
  }
};

struct ExtremeDistribution {
  static XGBGPU_HD double Density(double z) {
    double const w = PortableExp(z);
    return IsInfinite(w) ? 0.0 : w * PortableExp(-w);
  }
  static XGBGPU_HD double Probability(double z) { return 1.0 - PortableExp(-PortableExp(z)); }
};

/// Returns -ln of the likelihood of a time between `lower` and `upper`, for (ln time - prediction) / scale with this
/// distribution: the density for equal bounds, otherwise a probability. upper = +inf and lower = 0 mean no bound.
template <typename Distribution>
struct AftLoss {
  double scale;

  XGBGPU_HD double operator()(double lower, double upper, double prediction) const {
    double likelihood;
    if (lower == upper) {
      likelihood = Distribution::Density((PortableLog(lower) - prediction) / scale) / (scale * lower);
    } else {
      double const below_upper =
          IsInfinite(upper) ? 1.0 : Distribution::Probability((PortableLog(upper) - prediction) / scale);
      double const below_lower =
          lower <= 0.0 ? 0.0 : Distribution::Probability((PortableLog(lower) - prediction) / scale);
      likelihood = below_upper - below_lower;
    }
    constexpr double kSmallest = 1e-12;
    return -PortableLog(likelihood > kSmallest ? likelihood : kSmallest);  // also for NaN
  }
};

/// The loss is 1 for a prediction (the logarithm of a time) between the bounds.
struct IntervalLoss {
  XGBGPU_HD double operator()(double lower, double upper, double prediction) const {
    double const time = PortableExp(prediction);
    return time >= lower && time <= upper ? 1.0 : 0.0;
  }
};

template <typename Loss>
struct SurvivalTerms {
  Loss loss;
  TargetView targets;
  OutputView<float const> predictions;

  std::uint64_t size() const { return predictions.rows; }

  XGBGPU_HD MetricSum operator()(std::uint64_t row) const {
    double const weight = targets.weights == nullptr ? 1.0 : static_cast<double>(targets.weights[row]);
    return {loss(targets.lower[row], targets.upper[row], predictions.at(row, 0)) * weight, weight, 0};
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_SURVIVAL_OPS_H_
