/// A bound in float, above the gain of any split of two sums: nearly all candidates are worse than one that is known,
/// and the bound tells so without divisions in double precision.
///
/// It is the sum of both sides' G² / (H + lambda), in units of the integer sums. No penalty, limit or constraint of
/// weights makes a side's gain larger than that: it is the maximum of -(2 G w + (H + lambda) w²) over all w.
///
/// Rounding: with e = 2^-24, a converted sum has a relative error of e, its square 3e, H + lambda 2e, the division 4e,
/// the sum of both e: 10e < 2^-20. Integers are 1 to 2^62 and lambda at most 2^100 here, so nothing leaves the normal
/// floats. A candidate is dropped if its bound is 2^-18 below what the best known gain needs. Then its gain is smaller
/// by more than 2^-19 of that, and is so after rounding to float: known gains are of kLeastGain or more, or else it
/// does not matter which one is found.
#ifndef XGBGPU_EXACT_SCORE_BOUND_OPS_H_
#define XGBGPU_EXACT_SCORE_BOUND_OPS_H_

#include <cmath>
#include <cstdint>

#include "core/hd.h"
#include "split/split.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

struct ScoreUnits {
  explicit ScoreUnits(SplitParams const& p) : factor{p.hess_unit / p.grad_unit / p.grad_unit} {
    constexpr double kMostLambda = 0x1p100;  // less than there is only raises the bound
    double const in_units = p.reg_lambda / p.hess_unit;
    lambda = static_cast<float>(in_units < kMostLambda ? in_units : kMostLambda);
  }

  float lambda;   ///< in units of the hessians' sums
  double factor;  ///< scores in loss to scores of integers
};

/// Of a denominator from 2^-126 to 2^126; to 2 units in the last place.
XGBGPU_HD float FastQuotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdividef(a, b);
#else
  return a / b;
#endif
}

/// Both hessians must be positive.
XGBGPU_HD float ScoreBound(ScoreUnits const& units, GradientSum left, GradientSum right) {
  auto const lg = static_cast<float>(left.grad), rg = static_cast<float>(right.grad);
  float const lh = static_cast<float>(left.hess) + units.lambda, rh = static_cast<float>(right.hess) + units.lambda;
  return FastQuotient(lg * lg, lh) + FastQuotient(rg * rg, rh);
}

/// What some entries that follow each other may move from one side to the other: sums of magnitudes.
struct RunReach {
  std::int64_t grad{0};
  std::int64_t hess{0};

  XGBGPU_HD void Add(std::int64_t g, std::int64_t h) {
    grad += g < 0 ? -g : g;
    hess += h < 0 ? -h : h;
  }
};

/// Above the ScoreBound of every split of the entries of a run: `left` and `right` are the sums before and from its
/// first entry on. The run has at most 2^17 entries, so that no sum leaves 63 bits (core/fixed_point.h). Infinite if a
/// side may be without hessians.
XGBGPU_HD float RunScoreBound(ScoreUnits const& units, GradientSum left, GradientSum right, RunReach reach) {
  auto const widened = [&](GradientSum sum) {
    return GradientSum{(sum.grad < 0 ? -sum.grad : sum.grad) + reach.grad, sum.hess - reach.hess};
  };
  GradientSum const wide_left = widened(left), wide_right = widened(right);
  if (wide_left.hess <= 0 || wide_right.hess <= 0) return HUGE_VALF;
  return ScoreBound(units, wide_left, wide_right);
}

/// The least ScoreBound that a split may have whose gain reaches `known`. NaN, which nothing is below, if it cannot be
/// told.
XGBGPU_HD float LeastScore(ScoreUnits const& units, double node_gain, float known) {
  constexpr float kSlack = 1.0f - 0x1p-18f;
  return static_cast<float>((known + node_gain) * units.factor) * kSlack;
}

}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_SCORE_BOUND_OPS_H_
