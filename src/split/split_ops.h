/// The formulas of gradient boosting: the weight of a leaf, the gain of a split.
///
/// From  Chen & Guestrin, "XGBoost: A Scalable Tree Boosting System", KDD 2016, equations 5 to 7; the L1 term and the
///       clipped weight (max_delta_step) are XGBoost's
#ifndef XGBGPU_SPLIT_SPLIT_OPS_H_
#define XGBGPU_SPLIT_SPLIT_OPS_H_

#include "base/hd.h"
#include "split/split.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Sums in the units of the loss.
struct LossSum {
  double grad;
  double hess;
};

XGBGPU_HD LossSum ToLoss(SplitParams const& p, GradientSum sum) {
  return {static_cast<double>(sum.grad) * p.grad_unit, static_cast<double>(sum.hess) * p.hess_unit};
}

/// Returns sign(g) · max(|g| - alpha, 0).
XGBGPU_HD double SoftThreshold(double g, double alpha) {
  return g > alpha ? g - alpha : (g < -alpha ? g + alpha : 0.0);
}

/// Returns the best output of a node: -soft(G, alpha) / (H + lambda), clipped to ±max_delta_step; 0 below
/// min_child_weight (Regularisation::kOf1_7).
XGBGPU_HD double NodeWeight(SplitParams const& p, LossSum s) {
  if (s.hess <= 0.0 || (s.hess < p.min_child_weight && !p.is_of_3_4)) return 0.0;
  double const w = -SoftThreshold(s.grad, p.reg_alpha) / (s.hess + p.reg_lambda);
  if (p.max_delta_step == 0.0) return w;
  return w > p.max_delta_step ? p.max_delta_step : (w < -p.max_delta_step ? -p.max_delta_step : w);
}

/// Returns twice the reduction of the loss by a node's output `w`. Limits have chosen `w`. Its L1 penalty counts in
/// Regularisation::kOf3_4.
XGBGPU_HD double LimitedGain(SplitParams const& p, LossSum s, double w) {
  double loss = 2.0 * s.grad * w + (s.hess + p.reg_lambda) * (w * w);
  if (p.is_of_3_4) loss += 2.0 * p.reg_alpha * (w < 0.0 ? -w : w);
  return -loss;
}

/// Returns twice the reduction of the loss by a node's best output.
XGBGPU_HD double NodeGain(SplitParams const& p, LossSum s) {
  if (s.hess <= 0.0) return 0.0;
  if (p.max_delta_step == 0.0) {
    double const g = SoftThreshold(s.grad, p.reg_alpha);
    return g * g / (s.hess + p.reg_lambda);
  }
  return LimitedGain(p, s, NodeWeight(p, s));
}

/// Returns the gain rounded once to float; 0 for NaN and infinity, which lambda = 0 can cause.
XGBGPU_HD float FiniteGain(double gain) {
  auto const rounded = static_cast<float>(gain);
  return rounded < 3.402823466e+38f ? rounded : 0.0f;
}

/// Returns FiniteGain of dividing a node of gain `node_gain`; 0 if a side is too light.
XGBGPU_HD float SplitGain(SplitParams const& p, GradientSum left, GradientSum right, double node_gain) {
  if (left.hess <= 0 || right.hess <= 0) return 0.0f;
  LossSum const l = ToLoss(p, left), r = ToLoss(p, right);
  if (l.hess < p.min_child_weight || r.hess < p.min_child_weight) return 0.0f;
  return FiniteGain(NodeGain(p, l) + NodeGain(p, r) - node_gain);
}

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SPLIT_OPS_H_
