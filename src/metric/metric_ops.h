/// Terms of one row in metrics that are means over rows.
#ifndef XGBGPU_METRIC_METRIC_OPS_H_
#define XGBGPU_METRIC_METRIC_OPS_H_

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "core/portable_float.h"
#include "core/portable_math.h"
#include "metric/metric_sum.h"
#include "metric/survival_ops.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

// Losses of one row, in float like stock's.

XGBGPU_HD float FloatLog(float x) { return static_cast<float>(PortableLog(x)); }

struct RmseLoss {
  XGBGPU_HD float operator()(float label, float prediction) const {
    float const difference = label - prediction;
    return difference * difference;
  }
};

struct RmsleLoss {
  XGBGPU_HD float operator()(float label, float prediction) const {
    float const difference = PortableLog1pf(label) - PortableLog1pf(prediction);
    return difference * difference;
  }
};

struct MaeLoss {
  XGBGPU_HD float operator()(float label, float prediction) const { return std::fabs(label - prediction); }
};

struct MapeLoss {
  XGBGPU_HD float operator()(float label, float prediction) const { return std::fabs((label - prediction) / label); }
};

struct MpheLoss {
  float slope;
  XGBGPU_HD float operator()(float label, float prediction) const {
    float const scaled = (label - prediction) / slope;
    return slope * slope * (std::sqrt(1.0f + scaled * scaled) - 1.0f);
  }
};

struct LoglossLoss {
  XGBGPU_HD float operator()(float label, float prediction) const {
    return Part(-label, prediction) + Part(-(1.0f - label), 1.0f - prediction);
  }

 private:
  /// Returns factor · ln p, or 0 for a factor of 0. p is at least 1e-16.
  static XGBGPU_HD float Part(float factor, float p) {
    constexpr float kSmallest = 1e-16f;
    return factor == 0.0f ? 0.0f : factor * FloatLog(p < kSmallest ? kSmallest : p);
  }
};

struct ErrorLoss {
  float threshold;
  XGBGPU_HD float operator()(float label, float prediction) const {
    return prediction > threshold ? 1.0f - label : label;
  }
};

struct PoissonNloglik {
  XGBGPU_HD float operator()(float label, float prediction) const {
    constexpr float kSmallest = 1e-16f;
    float const p = prediction < kSmallest ? kSmallest : prediction;
    return static_cast<float>(PortableLogGamma(label + 1.0f)) + p - FloatLog(p) * label;
  }
};

/// Gamma with dispersion 1.
struct GammaNloglik {
  XGBGPU_HD float operator()(float label, float prediction) const {
    constexpr float kSmallest = 1e-6f;
    float const theta = -1.0f / (prediction < kSmallest ? kSmallest : prediction);
    return -(label * theta + FloatLog(-theta));
  }
};

constexpr float kDevianceShift = 1e-6f;

struct GammaDevianceLoss {
  XGBGPU_HD float operator()(float label, float prediction) const {
    float const p = prediction + kDevianceShift;
    float const y = label + kDevianceShift;
    return FloatLog(p / y) + y / p - 1.0f;
  }
};

struct TweedieNloglik {
  float power;
  XGBGPU_HD float operator()(float label, float prediction) const {
    float const log_p = FloatLog(prediction);
    float const a = label * PortableExpf((1.0f - power) * log_p) / (1.0f - power);
    float const b = PortableExpf((2.0f - power) * log_p) / (2.0f - power);
    return -a + b;
  }
};

/// Terms of a metric over every label. Item i is target i % columns of row i / columns.
template <typename Loss>
struct LabelTerms {
  Loss loss;
  TargetView targets;
  OutputView<float const> predictions;

  std::uint64_t size() const { return predictions.rows * predictions.outputs; }

  XGBGPU_HD MetricSum operator()(std::uint64_t i) const {
    std::uint64_t row = i;
    std::uint32_t target = 0;
    if (predictions.outputs != 1) {
      row = i / predictions.outputs;
      target = static_cast<std::uint32_t>(i - row * predictions.outputs);
    }
    float const weight = targets.weights == nullptr ? 1.0f : targets.weights[row];
    float const weighted = loss(targets.labels[i], predictions.at(row, target)) * weight;
    return {weighted, weight, 0};
  }
};

struct MerrorLoss {
  XGBGPU_HD float operator()(OutputView<float const> const& predictions, std::uint64_t row, std::uint32_t label) const {
    std::uint32_t best = 0;
    float largest = predictions.at(row, 0);
    for (std::uint32_t c = 1; c < predictions.outputs; ++c) {
      float const p = predictions.at(row, c);
      if (p > largest) {
        largest = p;
        best = c;
      }
    }
    return best != label ? 1.0f : 0.0f;
  }
};

struct MloglossLoss {
  XGBGPU_HD float operator()(OutputView<float const> const& predictions, std::uint64_t row, std::uint32_t label) const {
    constexpr float kSmallest = 1e-16f;
    float const p = predictions.at(row, label);
    return -FloatLog(p > kSmallest ? p : kSmallest);
  }
};

/// Terms of a metric over rows with classes as labels. The label's fraction is cut off, as in stock.
template <typename Loss>
struct ClassTerms {
  Loss loss;
  TargetView targets;
  OutputView<float const> predictions;

  std::uint64_t size() const { return predictions.rows; }

  XGBGPU_HD MetricSum operator()(std::uint64_t row) const {
    float const label = targets.labels[row];
    bool const is_class = label > -1.0f && label < static_cast<float>(predictions.outputs);
    if (!is_class) return {0.0, 0.0, BadLabel(row, label)};  // NaN too
    float const weight = targets.weights == nullptr ? 1.0f : targets.weights[row];
    float const weighted =
        loss(predictions, row, static_cast<std::uint32_t>(static_cast<std::int32_t>(label))) * weight;
    return {weighted, weight, 0};
  }
};

/// Calls `visit` with the metric's terms. Does nothing for metrics that are no sums over rows (metric/auc.h, cox.h,
/// ranking.h).
template <typename Visit>
void VisitTerms(MetricParams const& params, TargetView const& targets, OutputView<float const> const& predictions,
                Visit&& visit) {
  auto const labels = [&](auto loss) { visit(LabelTerms<decltype(loss)>{loss, targets, predictions}); };
  auto const times = [&](auto loss) { visit(SurvivalTerms<decltype(loss)>{loss, targets, predictions}); };
  auto const classes = [&](auto loss) { visit(ClassTerms<decltype(loss)>{loss, targets, predictions}); };
  switch (params.kind) {
    case Metric::kRmse:
      return labels(RmseLoss{});
    case Metric::kRmsle:
      return labels(RmsleLoss{});
    case Metric::kMae:
      return labels(MaeLoss{});
    case Metric::kMape:
      return labels(MapeLoss{});
    case Metric::kMphe:
      return labels(MpheLoss{params.huber_slope});
    case Metric::kLogloss:
      return labels(LoglossLoss{});
    case Metric::kError:
      return labels(ErrorLoss{params.threshold});
    case Metric::kPoissonNloglik:
      return labels(PoissonNloglik{});
    case Metric::kGammaNloglik:
      return labels(GammaNloglik{});
    case Metric::kGammaDeviance:
      return labels(GammaDevianceLoss{});
    case Metric::kTweedieNloglik:
      return labels(TweedieNloglik{params.tweedie_variance_power});
    case Metric::kMerror:
      return classes(MerrorLoss{});
    case Metric::kMlogloss:
      return classes(MloglossLoss{});
    case Metric::kAftNloglik:
      switch (params.aft_distribution) {
        case AftDistribution::kNormal:
          return times(AftLoss<NormalDistribution>{params.aft_scale});
        case AftDistribution::kLogistic:
          return times(AftLoss<LogisticDistribution>{params.aft_scale});
        case AftDistribution::kExtreme:
          return times(AftLoss<ExtremeDistribution>{params.aft_scale});
      }
      return;
    case Metric::kIntervalAccuracy:
      return times(IntervalLoss{});
    case Metric::kCoxNloglik:
    case Metric::kAuc:
    case Metric::kAucpr:
    case Metric::kPre:
    case Metric::kNdcg:
    case Metric::kMap:
      return;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_METRIC_OPS_H_
