/// Per-row maths of the objectives.
#ifndef XGBGPU_OBJECTIVE_OBJECTIVE_OPS_H_
#define XGBGPU_OBJECTIVE_OBJECTIVE_OPS_H_

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "core/portable_float.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

/// Returns the larger argument, or `least` if value is NaN.
XGBGPU_HD float AtLeast(float value, float least) { return value > least ? value : least; }

/// Returns 1 + e^-x, without a branch. At 88.7 e^x is still finite, so 1 / (1 + e^-x) is above 0.
XGBGPU_HD float OnePlusExp(float x) {
  float const negative = -x > 88.7f ? 88.7f : -x;
  return PortableExpf(negative) + 1.0f;
}
XGBGPU_HD float Sigmoid(float x) { return 1.0f / OnePlusExp(x); }

// Losses of one output: (margin, label, weight) → gradient and hessian, times the weight.

/// Returns the weight of a row, scaled if the label is 1. Only the losses that call it scale weights.
XGBGPU_HD float ScaledWeight(float label, float weight, float scale_pos_weight) {
  return label == 1.0f ? weight * scale_pos_weight : weight;
}

struct SquaredErrorLoss {
  float scale_pos_weight;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const w = ScaledWeight(label, weight, scale_pos_weight);
    return {(margin - label) * w, w};
  }
};

struct SquaredLogErrorLoss {
  float scale_pos_weight;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const w = ScaledWeight(label, weight, scale_pos_weight);
    float const f = AtLeast(margin, static_cast<float>(-1 + 1e-6));
    float const log_f = PortableLog1pf(f), log_y = PortableLog1pf(label);
    float const next = f + 1.0f;
    float const grad = (log_f - log_y) / next;
    float const rise = -log_f + log_y + 1.0f;
    double const square = static_cast<double>(next) * next;  // exact
    return {grad * w, AtLeast(static_cast<float>(rise / square), 1e-6f) * w};
  }
};

struct LogisticLoss {
  float scale_pos_weight;

  /// Takes OnePlusExp(margin), which a device computes faster for several rows at a time. Divisions have a branch and
  /// gain nothing.
  XGBGPU_HD GradientPair OfDenominator(float one_plus_exp, float label, float weight) const {
    float const w = ScaledWeight(label, weight, scale_pos_weight);
    float const p = 1.0f / one_plus_exp;
    return {(p - label) * w, AtLeast(p * (1.0f - p), 1e-16f) * w};
  }
  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    return OfDenominator(OnePlusExp(margin), label, weight);
  }
};

struct HingeLoss {
  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    auto const side = static_cast<float>(label * 2.0 - 1.0);
    if (margin * side < 1.0f) return {-side * weight, weight};
    return {0.0f, FLT_MIN};
  }
};

struct PoissonLoss {
  float max_delta_step;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    return {(PortableExpf(margin) - label) * weight, PortableExpf(margin + max_delta_step) * weight};
  }
};

struct GammaLoss {
  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const ratio = label / PortableExpf(margin);
    return {(1.0f - ratio) * weight, ratio * weight};
  }
};

struct TweedieLoss {
  float power;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const a = 1.0f - power, b = 2.0f - power;
    float const exp_a = PortableExpf(a * margin), exp_b = PortableExpf(b * margin);
    float const grad = -label * exp_a + exp_b;
    float const hess = -label * a * exp_a + b * exp_b;
    return {grad * weight, hess * weight};
  }
};

struct PseudoHuberLoss {
  float slope;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const d = margin - label;
    float const slope_square = slope * slope, d_square = d * d;
    float const root = std::sqrt(1.0f + d_square / slope_square);
    float const hess = slope_square / ((slope_square + d_square) * root);
    return {d / root * weight, hess * weight};
  }
};

/// A NaN margin is on neither side of its label.
struct AbsoluteErrorLoss {
  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const d = margin - label;
    float const above = d > 0.0f ? 1.0f : 0.0f, below = d < 0.0f ? 1.0f : 0.0f;
    return {(above - below) * weight, weight};
  }
};

/// A margin at its label counts as above it, a NaN margin as below.
struct QuantileLoss {
  float alpha;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const slope = margin - label >= 0.0f ? 1.0f - alpha : -alpha;
    return {slope * weight, weight};
  }
};

struct ExpectileLoss {
  float alpha;

  XGBGPU_HD GradientPair operator()(float margin, float label, float weight) const {
    float const d = margin - label;
    float const share = d >= 0.0f ? 1.0f - alpha : alpha;
    return {share * d * weight, share * weight};
  }
};

/// Returns the objective of one of the outputs that have an alpha and a loss each. Outputs of kExpectile share a loss.
inline ObjectiveParams OfOutput(ObjectiveParams const& params, std::uint32_t output) {
  ObjectiveParams one = params;
  one.alphas = {params.alphas[output]};
  return one;
}

/// Calls f with the loss of an objective of one output and one label. Does nothing for other objectives, and for losses
/// with a scale (HasScale): their gradients depend on all rows.
template <typename F>
void VisitLoss(ObjectiveParams const& params, F&& f) {
  switch (params.kind) {
    case Objective::kSquaredError:
      return f(SquaredErrorLoss{params.scale_pos_weight});
    case Objective::kSquaredLogError:
      return f(SquaredLogErrorLoss{params.scale_pos_weight});
    case Objective::kLogistic:
    case Objective::kLogitRaw:
      return f(LogisticLoss{params.scale_pos_weight});
    case Objective::kHinge:
      return f(HingeLoss{});
    case Objective::kPoisson:
      return f(PoissonLoss{params.max_delta_step});
    case Objective::kGamma:
      return f(GammaLoss{});
    case Objective::kTweedie:
      return f(TweedieLoss{params.tweedie_variance_power});
    case Objective::kPseudoHuber:
      return f(PseudoHuberLoss{params.huber_slope});
    case Objective::kAbsoluteError:
      return f(AbsoluteErrorLoss{});
    case Objective::kQuantile:
      return f(QuantileLoss{params.alphas[0]});
    case Objective::kExpectile:
      return f(ExpectileLoss{params.alphas[0]});
    case Objective::kSmoothAbsoluteError:
    case Objective::kSmoothQuantile:
    case Objective::kSoftmax:
    case Objective::kAft:
    case Objective::kCox:
    case Objective::kRankPairwise:
    case Objective::kRankNdcg:
    case Objective::kRankMap:
      return;
  }
}

// Margin → prediction.

struct SameAsMargin {
  XGBGPU_HD float operator()(float margin) const { return margin; }
};
struct SigmoidOfMargin {
  XGBGPU_HD float operator()(float margin) const { return Sigmoid(margin); }
};
struct SideOfMargin {
  XGBGPU_HD float operator()(float margin) const { return margin > 0.0f ? 1.0f : 0.0f; }
};
struct ExpOfMargin {
  XGBGPU_HD float operator()(float margin) const { return PortableExpf(margin); }
};

/// Calls f with the transform of an objective of one output. Does nothing for kSoftmax and kSmoothQuantile. Only the
/// first output of kExpectile has this transform.
template <typename F>
void VisitTransform(Objective kind, F&& f) {
  switch (kind) {
    case Objective::kSquaredError:
    case Objective::kSquaredLogError:
    case Objective::kLogitRaw:
    case Objective::kPseudoHuber:
    case Objective::kAbsoluteError:
    case Objective::kQuantile:
    case Objective::kExpectile:
    case Objective::kSmoothAbsoluteError:
    case Objective::kAft:
    case Objective::kRankPairwise:
    case Objective::kRankNdcg:
    case Objective::kRankMap:
      return f(SameAsMargin{});
    case Objective::kLogistic:
      return f(SigmoidOfMargin{});
    case Objective::kHinge:
      return f(SideOfMargin{});
    case Objective::kPoisson:
    case Objective::kGamma:
    case Objective::kTweedie:
    case Objective::kCox:
      return f(ExpOfMargin{});
    case Objective::kSmoothQuantile:
    case Objective::kSoftmax:
      return;
  }
}

// Softmax over all outputs of a row. The probability of class k is e^(F_k - largest) / sum. The sum is at least 1,
// because the largest margin adds e^0. The powers wait in the output until their sum is known.

XGBGPU_HD float LargestOfRow(OutputView<float const> const& margins, std::uint64_t row) {
  float largest = margins.at(row, 0);
  for (std::uint32_t k = 1; k < margins.outputs; ++k) largest = AtLeast(margins.at(row, k), largest);
  return largest;
}

/// Computes the gradients of a row. A label between two classes is no class, as in stock XGBoost.
XGBGPU_HD void SoftmaxGradients(OutputView<float const> const& margins, std::uint64_t row, float label, float weight,
                                OutputView<GradientPair> const& gradients) {
  float const largest = LargestOfRow(margins, row);
  double double_sum = 0.0;
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    float const power = PortableExpf(margins.at(row, k) - largest);
    gradients.at(row, k).grad = power;
    double_sum += power;
  }
  auto const sum = static_cast<float>(double_sum);
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    float const p = gradients.at(row, k).grad / sum;
    float const hess = AtLeast(2.0f * p * (1.0f - p) * weight, 1e-16f);
    gradients.at(row, k) = {(label == static_cast<float>(k) ? p - 1.0f : p) * weight, hess};
  }
}

XGBGPU_HD void SoftmaxProbabilities(OutputView<float const> const& margins, std::uint64_t row,
                                    OutputView<float> const& out) {
  float const largest = LargestOfRow(margins, row);
  double double_sum = 0.0;
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    float const power = PortableExpf(margins.at(row, k) - largest);
    out.at(row, k) = power;
    double_sum += power;
  }
  auto const sum = static_cast<float>(double_sum);
  for (std::uint32_t k = 0; k < margins.outputs; ++k) out.at(row, k) /= sum;
}

// Several expectiles. A margin moves its own prediction and all later ones, so its gradient is a sum over them.

/// Returns how far the prediction of an output after the first lies above the one before.
XGBGPU_HD float StepOfExpectile(float margin) {
  bool const is_positive = margin > 0.0f;
  float const rest = PortableLog1pf(PortableExpf(is_positive ? -margin : margin));
  return 1e-6f + (is_positive ? margin + rest : rest);
}

/// Writes the gradient by the prediction of output k to `gradients`. Takes k from 0 on, one after the other: the
/// prediction waits in the next output's gradient.
XGBGPU_HD void ExpectileTerm(float alpha, OutputView<float const> const& margins, std::uint64_t row, std::uint32_t k,
                             float label, float weight, OutputView<GradientPair> const& gradients) {
  float const margin = margins.at(row, k);
  float const prediction = k == 0 ? margin : gradients.at(row, k).grad + StepOfExpectile(margin);
  if (k + 1 < margins.outputs) gradients.at(row, k + 1).grad = prediction;
  gradients.at(row, k) = ExpectileLoss{alpha}(prediction, label, weight);
}

/// Turns gradients by predictions into gradients by margins. Sums of floats begin at the output itself, as in XGBoost.
XGBGPU_HD void SumExpectileTerms(OutputView<float const> const& margins, std::uint64_t row,
                                 OutputView<GradientPair> const& gradients) {
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    GradientPair sum{0, 0};
    for (std::uint32_t later = k; later < margins.outputs; ++later) {
      GradientPair const term = gradients.at(row, later);
      sum = {sum.grad + term.grad, sum.hess + term.hess};
    }
    float const slope = k == 0 ? 1.0f : Sigmoid(margins.at(row, k));
    gradients.at(row, k) = {slope * sum.grad, slope * slope * sum.hess};
  }
}

/// Writes the predictions of a row. `out` may be `margins`.
XGBGPU_HD void ExpectilePredictions(OutputView<float const> const& margins, std::uint64_t row,
                                    OutputView<float> const& out) {
  float prediction = margins.at(row, 0);
  out.at(row, 0) = prediction;
  for (std::uint32_t k = 1; k < margins.outputs; ++k) {
    prediction += StepOfExpectile(margins.at(row, k));
    out.at(row, k) = prediction;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_OBJECTIVE_OPS_H_
