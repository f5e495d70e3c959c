// Parses names of metrics, checks their input and finishes their sums.
#include "xgbgpu/metric.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/message.h"
#include "base/number_text.h"
#include "metric/metric_ops.h"
#include "metric/metric_sum.h"
#include "metric/ranking.h"
#include "metric/ranking_ops.h"
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
                                    {"interval-regression-accuracy", Metric::kIntervalAccuracy},
                                    {"cox-nloglik", Metric::kCoxNloglik},
                                    {"pre", Metric::kPre},
                                    {"ndcg", Metric::kNdcg},
                                    {"map", Metric::kMap}};

/// Returns the whole text as a number, or nothing.
std::optional<float> NumberFrom(std::string const& text) {
  char* end = nullptr;
  float const value = TextToFloat(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

bool IsOfRankings(Metric metric) { return metric == Metric::kPre || metric == Metric::kNdcg || metric == Metric::kMap; }

/// Parses the text after a ranking metric's name and '@': "5" or "5-".
bool ReadTop(std::string text, MetricParams* params) {
  if (!text.empty() && text.back() == '-') {
    params->without_hits_is_zero = true;
    text.pop_back();
  }
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return false;
  params->top = static_cast<std::uint32_t>(std::stoul(text));
  return params->top != 0;
}

bool IsOfClasses(Metric metric) {
  return metric == Metric::kMerror || metric == Metric::kMlogloss || metric == Metric::kAuc || metric == Metric::kAucpr;
}

bool IsOfTimes(Metric metric) { return metric == Metric::kAftNloglik || metric == Metric::kIntervalAccuracy; }

/// Returns a text like "Metric ndcg: row 3 has label 31; allowed: 0 to ".
std::string BadLabelText(MetricParams const& params, MetricSum const& sum) {
  auto const bits = static_cast<std::uint32_t>(sum.bad);
  float label;
  std::memcpy(&label, &bits, sizeof(label));
  return Message("Metric ", NameOf(params.kind), ": row ", 0xFFFFFFFFU - (sum.bad >> 32), " has label ", label,
                 "; allowed: 0 to ");
}

/// Replaces every NaN by one NaN: the processor chooses the sign of a NaN.
double OneNaN(double value) { return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value; }

/// Throws InvalidArgument unless the targets of the metric exist in the size of the predictions. There must be rows.
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
  if (params.kind == Metric::kCoxNloglik && predictions.outputs != 1) {
    Throw<InvalidArgument>("Metric ", name, ": there are ", predictions.outputs, " predictions a row; allowed: 1");
  }
  if (IsRanking(params.kind, targets) && predictions.outputs != 1) {
    Throw<InvalidArgument>("Metric ", name, " over ranking groups: there are ", predictions.outputs,
                           " predictions a row; allowed: 1");
  }
  if (IsOfClasses(params.kind)) {
    if (targets.label_columns != 1) {
      Throw<InvalidArgument>("Metric ", name, ": the data have ", targets.label_columns, " labels a row; allowed: 1");
    }
  } else if (targets.label_columns != predictions.outputs) {
    Throw<InvalidArgument>("Metric ", name, ": there are ", predictions.outputs, " predictions and ",
                           targets.label_columns,
                           " labels a row; allowed: one label for each prediction. For classes use merror or mlogloss");
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
  bool const ends_with_minus = !has_number && !name.empty() && name.back() == '-';
  std::string const prefix = ends_with_minus ? name.substr(0, name.size() - 1) : name.substr(0, at);
  std::string const rest = has_number ? name.substr(at + 1) : "";
  for (NamedMetric const& m : kMetrics) {
    if (prefix != m.name) continue;
    MetricParams params{m.metric};
    std::optional<float> const number = NumberFrom(rest);
    if (IsOfRankings(m.metric)) {
      params.without_hits_is_zero = ends_with_minus;
      if (has_number && !ReadTop(rest, &params)) return std::nullopt;
    } else if (ends_with_minus) {
      return std::nullopt;
    } else if (m.metric == Metric::kTweedieNloglik) {
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
  if (targets.group_ptr == nullptr) return;
  if (targets.weights != nullptr && !IsRanking(params.kind, targets)) {
    Throw<InvalidArgument>("Metric ", name, " needs one weight for each row, but the data have weights of ",
                           targets.groups, " ranking groups; allowed: no weights, or a metric of rankings");
  }
}

double FinishSum(MetricParams const& params, MetricSum const& sum, std::uint32_t classes) {
  if (sum.bad != 0) {
    Throw<InvalidArgument>(BadLabelText(params, sum), classes - 1, " (num_class is ", classes, ")");
  }
  double value;
  if (IsOfClasses(params.kind) || params.kind == Metric::kCoxNloglik) {
    value = sum.loss / sum.weight;
  } else if (params.kind == Metric::kGammaDeviance) {
    value = 2.0 * sum.loss / (sum.weight <= 0.0 ? static_cast<double>(kDevianceShift) : sum.weight);
  } else {
    value = sum.weight == 0.0 ? sum.loss : sum.loss / sum.weight;
  }
  if (params.kind == Metric::kRmse || params.kind == Metric::kRmsle) value = std::sqrt(value);
  return OneNaN(value);
}

double FinishRanking(MetricParams const& params, MetricSum const& sum) {
  if (sum.bad != 0) {
    if (params.kind == Metric::kAucpr) {
      Throw<InvalidArgument>(BadLabelText(params, sum), 1,
                             ". PR-AUC supports only binary relevance for learning to rank.");
    }
    Throw<InvalidArgument>(BadLabelText(params, sum), kMostRelevant);
  }
  return OneNaN(sum.loss / sum.weight);
}

}  // namespace xgbgpu
