/// A bound in float, above the gain of any split of two sums: nearly all candidates are worse than one that is known,
/// and the bound tells so without divisions in double precision.
///
/// It is the sum of both sides' G² / (H + lambda), in units of the integer sums. No penalty, limit or constraint of
/// weights makes a side's gain larger than that: it is the maximum of -(2 G w + (H + lambda) w²) over all w.
///
/// Rounding: with e = 2^-24, a converted sum has a relative error of e, its square 3e, H + lambda 2e, the division 4e,
/// the sum of both e: 10e < 2^-20. Integers are 1 to 2^62 and lambda at most 2^100 here, so nothing leaves the normal
/// floats.
///
/// Dropping: with a known gain K and the node's own gain N, LeastScore is M (1 - 2^-18), M = K + N - 2^-20 (K + |N|). A
/// bound below that is one of a score S < M (1 - 2^-19), if M is positive; else nothing is dropped. The gain is at most
/// S - N < K - 2^-20 (K + |N|) - 2^-19 M, or, as it is computed, by 2^-49 (S + |N|) more: less than K (1 - 2^-20), and
/// less than K as a float, too, whether N is negative, as constraints of weights can make it, or not. K is kLeastGain
/// or more, or else it does not matter which candidate is found.
#ifndef XGBGPU_SPLIT_SCORE_BOUND_OPS_H_
#define XGBGPU_SPLIT_SCORE_BOUND_OPS_H_

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "core/portable_math.h"
#include "split/split.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// 1 / 2^k, exact and without a division; the argument is 2^k, -1022 <= k <= 1022.
XGBGPU_HD double InverseOfPower(double power) { return detail::FromBits(0x7FE0000000000000U - detail::ToBits(power)); }

struct ScoreUnits {
  XGBGPU_HD explicit ScoreUnits(SplitParams const& p) {
    constexpr double kMostLambda = 0x1p100;  // less than there is only raises the bound
    double const grads = InverseOfPower(p.grad_unit), in_units = p.reg_lambda * InverseOfPower(p.hess_unit);
    lambda = static_cast<float>(in_units < kMostLambda ? in_units : kMostLambda);
    factor = p.hess_unit * grads * grads;
  }

  float lambda;   ///< in units of the hessians' sums
  double factor;  ///< scores in loss to scores of integers
};

/// A side of a smaller hessian sum, 1 or more, is too light for a split. Nearly none of a larger one is: sums from 2^53
/// on are rounded before they are compared with min_child_weight, hence the step down.
XGBGPU_HD std::int64_t LeastHessian(SplitParams const& p) {
  double const needed = p.min_child_weight * InverseOfPower(p.hess_unit) * (1.0 - 0x1p-52);
  if (!(needed > 1.0)) return 1;
  if (needed >= 0x1p62) return std::int64_t{1} << 62;
  auto const whole = static_cast<std::int64_t>(needed);
  return whole + (static_cast<double>(whole) < needed ? 1 : 0);
}

/// a / b for a `b` from 2^-126 to 2^126; right to 2 units in the last place.
XGBGPU_HD float FastQuotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  float inverse;  // right to 1 unit; __fdividef would also check for denominators that do not occur here
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  return a * inverse;
#else
  return a / b;
#endif
}

/// Both hessians must be positive; `lambda` as of ScoreUnits.
template <typename Sum>
XGBGPU_HD float ScoreBound(float lambda, Sum left, Sum right) {
  auto const lg = static_cast<float>(left.grad), rg = static_cast<float>(right.grad);
  float const lh = static_cast<float>(left.hess) + lambda, rh = static_cast<float>(right.hess) + lambda;
  return FastQuotient(lg * lg, lh) + FastQuotient(rg * rg, rh);
}
XGBGPU_HD float ScoreBound(ScoreUnits const& units, GradientSum left, GradientSum right) {
  return ScoreBound(units.lambda, left, right);
}

/// Do the sides' weights, -G / (H + lambda), seem to go against a feature's direction? Only a guess: penalties and
/// limits of weights are left out.
XGBGPU_HD bool SeemsAgainst(float lambda, GradientSum left, GradientSum right, int direction) {
  float const lh = static_cast<float>(left.hess) + lambda, rh = static_cast<float>(right.hess) + lambda;
  float const rise = static_cast<float>(left.grad) * rh - static_cast<float>(right.grad) * lh;
  return direction > 0 ? rise < 0.0f : direction < 0 && rise > 0.0f;
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

/// The least ScoreBound that a split may have whose gain reaches `known`. Not above 0, or NaN, which nothing is below,
/// if it cannot be told.
XGBGPU_HD float LeastScore(ScoreUnits const& units, double node_gain, float known) {
  constexpr float kSlack = 1.0f - 0x1p-18f;
  double const margin = (known + (node_gain < 0.0 ? -node_gain : node_gain)) * 0x1p-20;
  return static_cast<float>((known + node_gain - margin) * units.factor) * kSlack;
}

/// LeastScore of a gain is more than this part of the candidate's own bound, where penalties, limits and constraints do
/// not make the gain smaller than the score: 2^-18 and 2^-20 below the gain's need and 10e between bound and score.
constexpr float kNearBound = 1.0f - 0x1p-17f;

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SCORE_BOUND_OPS_H_
