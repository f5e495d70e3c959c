// Computes auc and aucpr from the areas of the classes' curves.
#include "metric/auc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message.h"
#include "metric/auc_ops.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// Returns the covered share of the largest possible area.
double ShareOf(Metric metric, ClassArea const& c) {
  double const possible =
      metric == Metric::kAuc ? static_cast<double>(c.total.positive) * static_cast<double>(c.total.negative) : 1.0;
  return c.area / possible;
}

}  // namespace

double FinishArea(Metric metric, std::uint64_t rows, ClassArea const* classes, std::uint32_t n) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (rows == 0) return kNaN;
  double sum = 0.0, weights = 0.0;
  for (std::uint32_t i = 0; i < n; ++i) {
    ClassArea const& c = classes[i];
    if (c.largest >= kNotFiniteBits || c.total.positive <= 0 || c.total.negative <= 0) return kNaN;
    double const share = ShareOf(metric, c);
    // Without negative weights only rounding can make a share exceed 1.
    if (c.negative_weights != 0 && share > 1.0) {
      Throw<InvalidArgument>("Metric ", NameOf(metric), " is ", share,
                             ": there are labels outside [0, 1] or negative weights; allowed: labels 0 to 1, weights 0 "
                             "or larger");
    }
    bool const weighted = metric == Metric::kAuc && n > 1;  // a single class keeps its share, without another rounding
    double const weight =
        weighted ? ScaleByPowerOfTwo(static_cast<double>(c.total.positive), -CurveShift(c.largest, rows)) : 1.0;
    sum += std::min(share, 1.0) * weight;
    weights += weight;
  }
  double const value = sum / weights;
  return std::isnan(value) ? kNaN : value;  // one NaN for all: the processor chooses the sign
}

}  // namespace xgbgpu
