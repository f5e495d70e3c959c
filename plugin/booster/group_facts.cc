// Lists what workers of a process group compare, in words that an error can name.
#include "booster/group_facts.h"

#include "base/float_bits.h"
#include "base/message.h"
#include "call/call_state.h"
#include "xgb/metric.h"

namespace xgbgpu::plugin {

namespace {

char const* DistributionName(AftDistribution distribution) {
  switch (distribution) {
    case AftDistribution::kNormal:
      return "normal";
    case AftDistribution::kLogistic:
      return "logistic";
    case AftDistribution::kExtreme:
      break;
  }
  return "extreme";
}

}  // namespace

std::string BitsOf(float value) { return Message(value, " (bits ", FloatBits(value), ")"); }
std::string BitsOf(std::vector<float> const& values) {
  std::string bits;
  for (float const value : values) bits += (bits.empty() ? "" : ",") + BitsOf(value);
  return bits;
}

std::vector<Fact> FactsOf(ObjectiveParams const& p) {
  return {{"objective", NameOf(p.kind)},
          {"parameter scale_pos_weight", BitsOf(p.scale_pos_weight)},
          {"parameter max_delta_step of the objective", BitsOf(p.max_delta_step)},
          {"parameter tweedie_variance_power", BitsOf(p.tweedie_variance_power)},
          {"parameter huber_slope", BitsOf(p.huber_slope)},
          {"parameter quantile_alpha or expectile_alpha", BitsOf(p.alphas)},
          {"parameter aft_loss_distribution", DistributionName(p.aft_distribution)},
          {"parameter aft_loss_distribution_scale", BitsOf(p.aft_scale)},
          {"parameter num_pairsample", std::to_string(p.num_pairsample)},
          {"parameter fix_list_weight", BitsOf(p.fix_list_weight)},
          {"parameter lambdarank_pair_method", p.lambdarank.has_top ? "topk" : "mean"},
          {"parameter lambdarank_num_pair_per_sample", std::to_string(p.lambdarank.pairs)},
          {"parameter lambdarank_normalization", p.lambdarank.normalizes ? "1" : "0"},
          {"parameter lambdarank_score_normalization", p.lambdarank.normalizes_by_score ? "1" : "0"},
          {"parameter ndcg_exp_gain", p.lambdarank.has_exp_gain ? "1" : "0"},
          {"parameter lambdarank_unbiased", p.lambdarank.is_unbiased ? "1" : "0"},
          {"parameter lambdarank_bias_norm", Message(p.lambdarank.bias_norm)},
          {"position biases of pairs' larger labels", BitsOf(p.biases.high)},
          {"position biases of pairs' smaller labels", BitsOf(p.biases.low)}};
}

std::vector<Fact> FactsOf(MetricParams const& p) {
  return {{"metric", NameOf(p.kind)},
          {"threshold of the metric", BitsOf(p.threshold)},
          {"parameter tweedie_variance_power", BitsOf(p.tweedie_variance_power)},
          {"parameter huber_slope", BitsOf(p.huber_slope)},
          {"parameter aft_loss_distribution", DistributionName(p.aft_distribution)},
          {"parameter aft_loss_distribution_scale", BitsOf(p.aft_scale)},
          {"number of rows of a ranking that count", std::to_string(p.top)},
          {"value of a ranking without hits", p.without_hits_is_zero ? "0" : "1"}};
}

std::vector<Fact> FactsOfEvaluation(XgbContext const* ctx) {
  return {{"step", "evaluation"},
          {"parameter eval_metric", MetricNamesOf(ctx)},
          {"number of evaluated matrices", std::to_string(CallState::OfThisThread().evaluated_matrices)}};
}

}  // namespace xgbgpu::plugin
