#include "metric/metric.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/message.h"
#include "metric/metric_ops.h"
#include "metric/metric_sum.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

struct NamedMetric {
  char const* name;
  Metric metric;
};
constexpr NamedMetric kMetrics[] = {{"rmse", Metric::kRmse},
                                    {"rmsle", Metric::kRmsle},
                                    {"mae", Metric::kMae},
                                    {"mape", Metric::kMape},
                                    {"mphe", Metric::kMphe},
                                    {"logloss", Metric::kLogloss},
                                    {"error", Metric::kError},
                                    {"poisson-nloglik", Metric::kPoissonNloglik},
                                    {"gamma-nloglik", Metric::kGammaNloglik},
                                    {"gamma-deviance", Metric::kGammaDeviance},
                                    {"tweedie-nloglik", Metric::kTweedieNloglik},
                                    {"merror", Metric::kMerror},
                                    {"mlogloss", Metric::kMlogloss},
                                    {"auc", Metric::kAuc},
                                    {"aucpr", Metric::kAucpr},
                                    {"aft-nloglik", Metric::kAftNloglik},
                                    {"interval-regression-accuracy", Metric::kIntervalAccuracy}};

/// The whole text as a number.
std::optional<float> NumberFrom(std::string const& text) {
  char* end = nullptr;
  float const value = std::strtof(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

bool IsOfClasses(Metric metric) {
  return metric == Metric::kMerror || metric == Metric::kMlogloss || metric == Metric::kAuc || metric == Metric::kAucpr;
}

bool IsOfTimes(Metric metric) { return metric == Metric::kAftNloglik || metric == Metric::kIntervalAccuracy; }

/// For data with rows: what the metric compares predictions with is there, and as many of it.
void CheckTargetsFit(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions) {
  char const* const name = NameOf(params.kind);
  if (IsOfTimes(params.kind)) {
    if (targets.lower == nullptr || targets.upper == nullptr) {
      Throw<InvalidArgument>("Metric ", name, " needs label_lower_bound and label_upper_bound; the data have ",
                             targets.lower == nullptr ? "no label_lower_bound" : "no label_upper_bound");
    }
    if (predictions.outputs != 1) {
      Throw<InvalidArgument>("Metric ", name, ": there are ", predictions.outputs, " predictions a row; allowed: 1");
    }
    return;
  }
  if (targets.labels == nullptr) {
    Throw<InvalidArgument>("Metric ", name, " needs labels; the data have ", predictions.rows, " rows and no label");
  }
  if (IsOfClasses(params.kind)) {
    if (targets.label_columns != 1) {
      Throw<InvalidArgument>("Metric ", name, ": the data have ", targets.label_columns, " labels a row; allowed: 1");
    }
  } else if (targets.label_columns != predictions.outputs) {
    Throw<InvalidArgument>("Metric ", name, ": there are ", predictions.outputs, " predictions and ",
                           targets.label_columns,
                           " labels a row; allowed: as many labels as predictions (for classes: merror or mlogloss)");
  }
}

}  // namespace

char const* NameOf(Metric metric) {
  char const* name = "";
  for (NamedMetric const& m : kMetrics) {
    if (m.metric == metric) name = m.name;
  }
  return name;
}

std::optional<MetricParams> MetricByName(std::string const& name) {
  std::size_t const at = name.find('@');
  bool const has_number = at != std::string::npos;
  std::string const prefix = name.substr(0, at);
  for (NamedMetric const& m : kMetrics) {
    if (prefix != m.name) continue;
    MetricParams params{m.metric};
    std::optional<float> const number = has_number ? NumberFrom(name.substr(at + 1)) : std::nullopt;
    if (m.metric == Metric::kTweedieNloglik) {
      if (!number || !(*number >= 1.0f && *number < 2.0f)) return std::nullopt;
      params.tweedie_variance_power = *number;
    } else if (has_number) {
      if (m.metric != Metric::kError || !number) return std::nullopt;
      params.threshold = *number;
    }
    return params;
  }
  return std::nullopt;
}

void CheckMetricInput(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions) {
  char const* const name = NameOf(params.kind);
  if (params.kind == Metric::kMphe && params.huber_slope == 0.0f) {
    Throw<InvalidArgument>("Parameter huber_slope is 0; allowed for metric mphe: any other number");
  }
  if (predictions.rows == 0) return;
  CheckTargetsFit(params, targets, predictions);
  if (params.kind == Metric::kAuc || params.kind == Metric::kAucpr) {
    if (targets.group_ptr != nullptr) {
      Throw<Unsupported>("Metric ", name, " over ranking groups (the data have ", targets.groups,
                         ") is not computed here; XGBoost computes it");
    }
  } else if (targets.group_ptr != nullptr && targets.weights != nullptr) {
    Throw<InvalidArgument>("Metric ", name, " needs weights of rows; the data have weights of ", targets.groups,
                           " ranking groups; allowed: no weights, or metrics of rankings");
  }
}

double FinishSum(MetricParams const& params, MetricSum const& sum, std::uint32_t classes) {
  if (sum.bad != 0) {
    auto const bits = static_cast<std::uint32_t>(sum.bad);
    float label;
    std::memcpy(&label, &bits, sizeof(label));
    Throw<InvalidArgument>("Metric ", NameOf(params.kind), ": row ", 0xFFFFFFFFU - (sum.bad >> 32), " has label ",
                           label, "; allowed: 0 to ", classes - 1, " (num_class is ", classes, ")");
  }
  double value;
  if (IsOfClasses(params.kind)) {
    value = sum.loss / sum.weight;
  } else if (params.kind == Metric::kGammaDeviance) {
    value = 2.0 * sum.loss / (sum.weight <= 0.0 ? static_cast<double>(kDevianceShift) : sum.weight);
  } else {
    value = sum.weight == 0.0 ? sum.loss : sum.loss / sum.weight;
  }
  if (params.kind == Metric::kRmse || params.kind == Metric::kRmsle) value = std::sqrt(value);
  // The sign of a NaN is the processor's choice.
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

}  // namespace xgbgpu
