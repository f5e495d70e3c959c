// Reads the parameters of objectives and metrics out of their saved configurations.
#include "params/saved_params.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/message.h"
#include "base/number_text.h"
#include "errors/notice.h"
#include "params/lambdarank_words.h"
#include "params/meanings.h"
#include "xgb/version.h"
#include "xgbgpu/row_views.h"

namespace xgbgpu::plugin {

namespace {

/// A parameter in a section of a saved configuration, as text; "" if it is not there.
std::string SavedText(xgboost::Json const& config, char const* section, char const* name) {
  auto const& all = xgboost::get<xgboost::Object const>(config);
  auto const found = all.find(section);
  if (found == all.cend()) return {};
  auto const& values = xgboost::get<xgboost::Object const>(found->second);
  auto const value = values.find(name);
  return value == values.cend() ? std::string{} : xgboost::get<xgboost::String const>(value->second);
}

/// A parameter in a section of a saved configuration, as a number; `fallback` if it is not there.
float SavedNumber(xgboost::Json const& config, char const* section, char const* name, float fallback) {
  std::string const text = SavedText(config, section, name);
  return text.empty() ? fallback : TextToFloat(text.c_str(), nullptr);
}

/// aft_loss_distribution of survival:aft and aft-nloglik.
AftDistribution SavedDistribution(xgboost::Json const& config) {
  std::string const name = SavedText(config, "aft_loss_param", "aft_loss_distribution");
  if (name == "logistic") return AftDistribution::kLogistic;
  return name == "extreme" ? AftDistribution::kExtreme : AftDistribution::kNormal;
}

/// Reads LambdaRank of XGBoost 2.0 and later. Returns false if the engine does not have it.
bool ReadLambdaRank(xgboost::Json const& config, LambdaRank* out) {
  auto const text = [&](char const* name) { return SavedText(config, "lambdarank_param", name); };
  std::string const method = text("lambdarank_pair_method");
  if (method.empty()) return true;
  auto const is_on = [&](char const* name, bool fallback) {
    std::string const value = text(name);
    return value.empty() ? fallback : value == "1" || value == "true";
  };
  out->is_used = true;
  out->has_top = method == "topk";
  std::string const pairs = text("lambdarank_num_pair_per_sample");
  if (pairs == kPairsNotGiven) {
    out->pairs = out->has_top ? 32 : 1;
  } else {
    if (pairs.find_first_not_of("0123456789") != std::string::npos || pairs.empty() || pairs.size() > 9) return false;
    out->pairs = static_cast<std::uint32_t>(std::stoul(pairs));
  }
  out->normalizes = is_on("lambdarank_normalization", true);
  out->normalizes_by_score = is_on("lambdarank_score_normalization", true);
  out->has_exp_gain = is_on("ndcg_exp_gain", true);
  out->is_unbiased = is_on("lambdarank_unbiased", false);
  std::string const bias_norm = text("lambdarank_bias_norm");
  if (!bias_norm.empty()) out->bias_norm = TextToDouble(bias_norm.c_str(), nullptr);
  bool const has_limit = out->is_unbiased && out->has_top;
  return !has_limit || out->pairs <= kMostPositions;
}

/// Reads the numbers of a list: "[1E-1,5E-1]".
std::vector<float> NumbersOf(std::string const& list) {
  std::vector<float> numbers;
  std::size_t at = 0;
  while ((at = list.find_first_not_of("[], ", at)) != std::string::npos) {
    numbers.push_back(TextToFloat(list.c_str() + at, nullptr));
    at = std::min(list.find_first_of("], ", at), list.size());
  }
  return numbers;
}

/// Reads the alphas of quantiles and expectiles; none of other objectives.
std::vector<float> SavedAlphas(xgboost::Json const& config, Objective kind) {
  if (!HasAlphas(kind)) return {};
  if (kind == Objective::kExpectile) return NumbersOf(SavedText(config, "expectile_loss_param", "expectile_alpha"));
  return NumbersOf(SavedText(config, "quantile_loss_param", "quantile_alpha"));
}

/// Says once that XGBoost computes what the engine has the meaning of other series for.
void InformOfMeaning(char const* what, std::string const& name, int last_series) {
  InformOnce(Message("meaning of ", what, ' ', name),
             Message(what, ' ', name, " is another in XGBoost ", RunningVersion(), " than in ", last_series / 100, '.',
                     last_series % 100, ", whose ", what, " the engine has. XGBoost computes it, on the CPU."));
}

}  // namespace

std::optional<ObjectiveParams> ObjectiveParamsOf(xgboost::Json const& config) {
  std::string const name = xgboost::get<xgboost::String const>(config["name"]);
  auto const kind = ObjectiveByName(name);
  if (!kind) return {};
  if (!ObjectiveIsOurs(kSeries, name)) {
    InformOfMeaning("objective", name, LastSeriesOfObjective(name));
    return {};
  }
  ObjectiveParams params{InSeries(kSeries, *kind)};
  params.whole_classes = kSeries >= 302;
  params.scale_pos_weight = SavedNumber(config, "reg_loss_param", "scale_pos_weight", params.scale_pos_weight);
  params.max_delta_step = SavedNumber(config, "poisson_regression_param", "max_delta_step", params.max_delta_step);
  params.tweedie_variance_power =
      SavedNumber(config, "tweedie_regression_param", "tweedie_variance_power", params.tweedie_variance_power);
  params.huber_slope = SavedNumber(config, "pseudo_huber_param", "huber_slope", params.huber_slope);
  params.aft_distribution = SavedDistribution(config);
  params.aft_scale = SavedNumber(config, "aft_loss_param", "aft_loss_distribution_scale", params.aft_scale);
  params.fix_list_weight = SavedNumber(config, "lambda_rank_param", "fix_list_weight", params.fix_list_weight);
  std::string const pairs = SavedText(config, "lambda_rank_param", "num_pairsample");
  bool const is_number = pairs.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || pairs.size() > 9) return {};  // XGBoost may try
  if (!pairs.empty()) params.num_pairsample = static_cast<std::uint32_t>(std::stoul(pairs));
  params.alphas = SavedAlphas(config, params.kind);
  if (!ReadLambdaRank(config, &params.lambdarank)) {
    InformOnce(
        Message("lambdarank of ", name),
        Message("objective ", name, " with more than 999999999 for lambdarank_num_pair_per_sample, or more than ",
                kMostPositions, " with lambdarank_unbiased=1: XGBoost computes it, on the CPU."));
    return {};
  }
  return params;
}

std::optional<MetricParams> MetricParamsOf(char const* name, xgboost::Json const& config) {
  auto params = MetricByName(name);
  if (!params) return params;
  if (!MetricIsOurs(kSeries, name)) {
    InformOfMeaning("metric", name, LastSeriesOfMetric(name));
    return {};
  }
  params->huber_slope = SavedNumber(config, "pseudo_huber_param", "huber_slope", params->huber_slope);
  params->aft_distribution = SavedDistribution(config);
  params->aft_scale = SavedNumber(config, "aft_loss_param", "aft_loss_distribution_scale", params->aft_scale);
  return params;
}

}  // namespace xgbgpu::plugin
