/// A bound in float above the gain of any split with two given sums. It rejects nearly all candidates without divisions
/// in double precision.
///
/// The bound is the sum of both sides' G² / (H + lambda), in units of the integer sums. No penalty, limit or constraint
/// of weights makes a side's gain larger: the term is the maximum of -(2 G w + (H + lambda) w²) over all w.
///
/// Rounding: with e = 2^-24, a converted sum has a relative error of e, its square 3e, H + lambda 2e, the division 4e,
/// the sum of both e: 10e < 2^-20. Integers are 1 to 2^62 and lambda at most 2^100 here, so all results are normal
/// floats.
///
/// Rejection: with a known gain K and the node's own gain N, LeastScore is M (1 - 2^-18), M = K + N - 2^-20 (K + |N|).
/// A bound below LeastScore belongs to a score S < M (1 - 2^-19), if M is positive; otherwise nothing is rejected. The
/// gain is at most S - N < K - 2^-20 (K + |N|) - 2^-19 M. The computed gain is larger by at most 2^-49 (S + |N|): less
/// than K (1 - 2^-20), and less than K as a float. N may be negative, by constraints of weights. K is at least
/// kLeastGain; for smaller K it does not matter which candidate is found.
#ifndef XGBGPU_SPLIT_SCORE_BOUND_OPS_H_
#define XGBGPU_SPLIT_SCORE_BOUND_OPS_H_

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "core/portable_math.h"
#include "split/split.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns 1 / 2^k, exact and without a division. The argument is 2^k, -1022 <= k <= 1022.
XGBGPU_HD double InverseOfPower(double power) { return detail::FromBits(0x7FE0000000000000U - detail::ToBits(power)); }

struct ScoreUnits {
  XGBGPU_HD explicit ScoreUnits(SplitParams const& p) {
    constexpr double kMostLambda = 0x1p100;  // a smaller lambda only raises the bound
    double const grads = InverseOfPower(p.grad_unit), in_units = p.reg_lambda * InverseOfPower(p.hess_unit);
    lambda = static_cast<float>(in_units < kMostLambda ? in_units : kMostLambda);
    factor = p.hess_unit * grads * grads;
  }

  float lambda;   ///< in units of hessian sums
  double factor;  ///< factor from scores in loss to scores of integers
};

/// Returns the least hessian sum of a side, 1 or more: a side with less is too light. Nearly no side with more is too
/// light. Sums from 2^53 on are rounded before the comparison with min_child_weight, so the bound steps down.
XGBGPU_HD std::int64_t LeastHessian(SplitParams const& p) {
  double const needed = p.min_child_weight * InverseOfPower(p.hess_unit) * (1.0 - 0x1p-52);
  if (!(needed > 1.0)) return 1;
  if (needed >= 0x1p62) return std::int64_t{1} << 62;
  auto const whole = static_cast<std::int64_t>(needed);
  return whole + (static_cast<double>(whole) < needed ? 1 : 0);
}

/// Returns a / b for a `b` from 2^-126 to 2^126, within 2 units in the last place.
XGBGPU_HD float FastQuotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  float inverse;  // within 1 unit; __fdividef would also check for denominators that do not occur here
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  return a * inverse;
#else
  return a / b;
#endif
}

/// Returns the bound. Both hessians must be positive; `lambda` is ScoreUnits::lambda.
template <typename Sum>
XGBGPU_HD float ScoreBound(float lambda, Sum left, Sum right) {
  auto const lg = static_cast<float>(left.grad), rg = static_cast<float>(right.grad);
  float const lh = static_cast<float>(left.hess) + lambda, rh = static_cast<float>(right.hess) + lambda;
  return FastQuotient(lg * lg, lh) + FastQuotient(rg * rg, rh);
}
XGBGPU_HD float ScoreBound(ScoreUnits const& units, GradientSum left, GradientSum right) {
  return ScoreBound(units.lambda, left, right);
}

/// Returns true if the sides' weights, -G / (H + lambda), seem to violate a feature's direction. A guess that leaves
/// out penalties and limits of weights.
XGBGPU_HD bool SeemsAgainst(float lambda, GradientSum left, GradientSum right, int direction) {
  float const lh = static_cast<float>(left.hess) + lambda, rh = static_cast<float>(right.hess) + lambda;
  float const rise = static_cast<float>(left.grad) * rh - static_cast<float>(right.grad) * lh;
  return direction > 0 ? rise < 0.0f : direction < 0 && rise > 0.0f;
}

/// Sums of magnitudes over consecutive entries: the most that a split among them moves from one side to the other.
struct RunReach {
  std::int64_t grad{0};
  std::int64_t hess{0};

  XGBGPU_HD void Add(std::int64_t g, std::int64_t h) {
    grad += g < 0 ? -g : g;
    hess += h < 0 ? -h : h;
  }
};

/// Returns a number above the ScoreBound of every split of a run's entries. `left` and `right` are the sums before the
/// run, and from its first entry on. The run has at most 2^17 entries, so no sum exceeds 63 bits (core/fixed_point.h).
/// Infinite if a side may have no hessians.
XGBGPU_HD float RunScoreBound(ScoreUnits const& units, GradientSum left, GradientSum right, RunReach reach) {
  auto const widened = [&](GradientSum sum) {
    return GradientSum{(sum.grad < 0 ? -sum.grad : sum.grad) + reach.grad, sum.hess - reach.hess};
  };
  GradientSum const wide_left = widened(left), wide_right = widened(right);
  if (wide_left.hess <= 0 || wide_right.hess <= 0) return HUGE_VALF;
  return ScoreBound(units, wide_left, wide_right);
}

/// Returns the least ScoreBound of a split with a gain that may reach `known`. The result is not above 0, or NaN, if no
/// bound exists: no ScoreBound is below it.
XGBGPU_HD float LeastScore(ScoreUnits const& units, double node_gain, float known) {
  constexpr float kSlack = 1.0f - 0x1p-18f;
  double const margin = (known + (node_gain < 0.0 ? -node_gain : node_gain)) * 0x1p-20;
  return static_cast<float>((known + node_gain - margin) * units.factor) * kSlack;
}

/// LeastScore of a gain is more than this part of the candidate's own bound, unless penalties, limits or constraints
/// make the gain smaller than the score. The terms: 2^-18 and 2^-20 of LeastScore, and 10e between bound and score.
constexpr float kNearBound = 1.0f - 0x1p-17f;

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SCORE_BOUND_OPS_H_
