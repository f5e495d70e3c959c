/// Maths of one row of a curve, and of one step.
#ifndef XGBGPU_METRIC_AUC_OPS_H_
#define XGBGPU_METRIC_AUC_OPS_H_

#include <cmath>
#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "core/fixed_point.h"
#include "core/portable_math.h"
#include "core/search.h"
#include "metric/auc.h"

namespace xgbgpu {

/// Returns a key that orders predictions from the largest to the smallest. 0 and -0 have equal keys. All NaNs have one
/// key, which comes first, because the processor chooses the bits of a NaN.
XGBGPU_HD std::uint32_t PredictionKey(float prediction) {
  return prediction != prediction ? 0 : DescendingKey(prediction);
}

/// The weights of a row as a positive and as a negative.
struct RowWeights {
  float positive;
  float negative;
};

/// Weights of rows as floats, as in stock.
struct CurveRows {
  TargetView targets;
  bool one_against_rest;         ///< labels are classes; otherwise a label is the positive share of its row
  std::uint32_t positive_class;  ///< used if one_against_rest

  XGBGPU_HD RowWeights operator()(std::uint64_t row) const {
    float label = targets.labels[row];
    if (one_against_rest) label = label == static_cast<float>(positive_class) ? 1.0f : 0.0f;
    float const weight = targets.weights == nullptr ? 1.0f : targets.weights[row];
    return {label * weight, (1.0f - label) * weight};
  }
};

/// Returns the bits of the larger magnitude. As integers they order like magnitudes, with infinity and NaN above all
/// numbers.
XGBGPU_HD std::uint32_t LargerMagnitude(RowWeights const& weights) {
  std::uint32_t const p = MagnitudeBits(weights.positive), n = MagnitudeBits(weights.negative);
  return p > n ? p : n;
}

XGBGPU_HD std::uint32_t AnyNegative(RowWeights const& weights) {
  return weights.positive < 0.0f || weights.negative < 0.0f ? 1 : 0;
}

/// Returns the shift of a curve's unit 2^-shift: the largest weight becomes less than 2^w, with w of
/// core/fixed_point.h's wide format, whose proof bounds the sums by 2^62. Returns 0 if all weights are 0 or one is not
/// finite: the metric is NaN then.
XGBGPU_HD int CurveShift(std::uint32_t largest, std::uint64_t rows) {
  if (largest == 0 || largest >= kNotFiniteBits) return 0;
  float const value = FloatFromBits(largest);
  int const above = static_cast<int>(detail::ToBits(static_cast<double>(value)) >> 52) - 1022;  // value < 2^above
  int log_rows = 0;
  while ((std::uint64_t{1} << log_rows) < rows) ++log_rows;
  int const bits = 62 - log_rows < kWideBits ? 62 - log_rows : kWideBits;
  return bits - above;
}

/// Returns a row's weights in fixed point. `largest` is over all rows; the result is 0 if it is not finite.
XGBGPU_HD CurvePoint ToFixedPoint(RowWeights const& weights, std::uint32_t largest, double scale) {
  if (largest >= kNotFiniteBits) return {0, 0};
  return {RoundToNearest(weights.positive, scale), RoundToNearest(weights.negative, scale)};
}

XGBGPU_HD CurvePoint operator+(CurvePoint const& a, CurvePoint const& b) {
  return {a.positive + b.positive, a.negative + b.negative};
}

/// Returns the first i with key(i) == key(last). Keys ascend. Cost: log of the distance.
template <typename Key>
XGBGPU_HD std::uint64_t RunStart(Key const& key, std::uint64_t last) {
  std::uint32_t const of_last = key(last);
  std::uint64_t high = last, step = 1;
  while (high >= step && key(high - step) == of_last) {
    high -= step;
    step *= 2;
  }
  return FirstWhere(high >= step ? high - step + 1 : 0, high, [&](std::uint64_t i) { return key(i) == of_last; });
}

/// Returns the area of the trapezoid between two points of the ROC curve.
XGBGPU_HD double RocStep(CurvePoint const& from, CurvePoint const& to) {
  double const width = std::fabs(static_cast<double>(to.negative - from.negative));
  return width * (static_cast<double>(from.positive) + static_cast<double>(to.positive)) * 0.5;
}

/// Returns the area below the precision-recall curve between two points. Between them false positives grow linearly
/// with true positives, by h for each: precision at recall r is r / (a r + b) with a = 1 + h, b = (negative - h ·
/// positive) / all positives. Its integral is r / a - b / a² · ln(a r + b).
XGBGPU_HD double PrecisionRecallStep(CurvePoint const& from, CurvePoint const& to, std::int64_t positives) {
  if (to.positive == from.positive) return 0.0;
  double const all = static_cast<double>(positives);
  double const tp_from = static_cast<double>(from.positive), tp_to = static_cast<double>(to.positive);
  double const recall_from = tp_from / all, recall_to = tp_to / all;
  double const h = static_cast<double>(to.negative - from.negative) / static_cast<double>(to.positive - from.positive);
  double const a = h + 1.0;
  double const b = (static_cast<double>(from.negative) - h * tp_from) / all;
  double rest = 0.0;
  if (b != 0.0) rest = b / a * (PortableLog(a * recall_to + b) - PortableLog(a * recall_from + b));
  return (recall_to - recall_from - rest) / a;
}

struct KeyAt {
  std::uint32_t const* keys;
  XGBGPU_HD std::uint32_t operator()(std::uint64_t i) const { return keys[i]; }
};

/// Terms of an area. Item i is the step that ends at sorted row i.
struct AreaTerms {
  Metric metric;
  std::uint32_t const* keys;  ///< [rows], ascending
  CurvePoint const* points;   ///< [rows] sums of sorted rows up to and including each
  std::uint64_t rows;

  XGBGPU_HD double operator()(std::uint64_t i) const {
    if (i + 1 < rows && keys[i + 1] == keys[i]) return 0.0;
    std::uint64_t const start = RunStart(KeyAt{keys}, i);
    CurvePoint const from = start == 0 ? CurvePoint{0, 0} : points[start - 1];
    return metric == Metric::kAuc ? RocStep(from, points[i])
                                  : PrecisionRecallStep(from, points[i], points[rows - 1].positive);
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_AUC_OPS_H_
