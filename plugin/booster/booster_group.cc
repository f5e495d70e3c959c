/// Rounds and evaluation of one worker of a process group. docs/adr/0020-process-groups.md
#include "booster/booster_group.h"

#include <xgboost/json.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/float_bits.h"
#include "base/hash.h"
#include "base/message.h"
#include "base/stages.h"
#include "booster/booster.h"
#include "booster/training_checks.h"
#include "group/group_place.h"
#include "matrix/adapt_input.h"
#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "xgb/api_call.h"
#include "xgb/metric.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Parameters that say how a worker works, not what it computes; and num_trees, which is none.
bool IsOfOneWorker(std::string const& name) {
  constexpr char const* kNames[] = {
      "gpu_backend",      "gpu_id",    "n_gpus",    "gpu_memory_limit", "gpu_host_memory_limit",
      "gpu_cache_folder", "gpu_trace", "predictor", "num_trees"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Adds what a saved configuration says, each parameter by its own name. What XGBoost has no word for stands there
/// twice: in its words, and in those of the user in our section, which comes last and counts.
void AddParams(xgboost::Json const& config, std::map<std::string, std::string>* params) {
  for (auto const& [name, value] : xgboost::get<xgboost::Object const>(config)) {
    if (xgboost::IsA<xgboost::Object>(value)) {
      AddParams(value, params);
    } else if (!IsOfOneWorker(name)) {
      bool const is_text = xgboost::IsA<xgboost::String>(value);
      std::string text;
      if (!is_text) xgboost::Json::Dump(value, &text);
      (*params)["parameter " + name] = is_text ? xgboost::get<xgboost::String const>(value) : text;
    }
  }
}

/// Returns the number's bits as a text: no two that differ have one text.
std::string BitsOf(float value) {
  std::string digits = std::to_string(value);
  return digits + " (bits " + std::to_string(FloatBits(value)) + ")";
}

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

std::vector<Fact> FactsOf(ObjectiveParams const& p) {
  return {{"objective", NameOf(p.kind)},
          {"parameter scale_pos_weight", BitsOf(p.scale_pos_weight)},
          {"parameter max_delta_step of the objective", BitsOf(p.max_delta_step)},
          {"parameter tweedie_variance_power", BitsOf(p.tweedie_variance_power)},
          {"parameter huber_slope", BitsOf(p.huber_slope)},
          {"parameter aft_loss_distribution", DistributionName(p.aft_distribution)},
          {"parameter aft_loss_distribution_scale", BitsOf(p.aft_scale)},
          {"parameter num_pairsample", std::to_string(p.num_pairsample)},
          {"parameter fix_list_weight", BitsOf(p.fix_list_weight)}};
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

/// Returns the numbers of the features that are categories, as a text.
std::string NamesOf(std::vector<std::uint8_t> const& categorical) {
  std::string text;
  for (std::size_t f = 0; f < categorical.size(); ++f) {
    if (categorical[f] != 0) text += (text.empty() ? "" : ",") + std::to_string(f);
  }
  return text;
}

/// Returns the numbers of the trees of weight 0, as a text.
std::string DroppedOf(std::vector<float> const& weights) {
  std::string text;
  for (std::size_t tree = 0; tree < weights.size(); ++tree) {
    if (weights[tree] == 0.0f) text += (text.empty() ? "" : ",") + std::to_string(tree);
  }
  return text;
}

/// Compares which features are categorical. A matrix that has neither rows nor feature types gets the types of the
/// first worker that has some: Dask makes such a matrix for a worker that has rows of an evaluation alone, and cannot
/// know what a frame on another worker says. Not so a QuantileDMatrix: it has been made with other types already.
void AgreeOnTypes(ProcessGroup* group, xgboost::DMatrix* data) {
  xgboost::MetaInfo* const info = &data->Info();
  constexpr std::int64_t kNoOpinion = std::numeric_limits<std::int64_t>::min();
  bool const lacks = info->num_row_ == 0 && info->feature_types.Empty() && !HasBinsOnly(*data);
  auto const number = static_cast<std::int64_t>(HashText(NamesOf(CategoricalFeatures(*info))) >> 1);
  std::int64_t most[] = {lacks ? kNoOpinion : number, lacks ? kNoOpinion : -number, lacks ? 1 : 0,
                         info->feature_types.Empty() ? 0 : 1};
  group->Max({most, 4});
  if (most[2] != 0 && most[3] != 0) {
    std::vector<std::uint32_t> own;
    for (auto const type : info->feature_types.ConstHostVector()) own.push_back(static_cast<std::uint32_t>(type));
    auto const all = group->Gather(Span<std::uint32_t const>{own});
    auto const first = std::find_if(all.cbegin(), all.cend(), [](auto const& list) { return !list.empty(); });
    if (lacks) {
      auto& types = info->feature_types.HostVector();
      for (std::uint32_t const type : *first) types.push_back(static_cast<xgboost::FeatureType>(type));
    }
  }
  if (most[1] == kNoOpinion || most[0] == -most[1]) return;
  Agree(*group, {{"list of categorical features (feature_types)", NamesOf(CategoricalFeatures(*info))}}, [] {});
}

}  // namespace

std::vector<float> OfWorkersWithRows(ProcessGroup* group, bool has_rows, std::vector<float> const& values) {
  std::vector<std::uint32_t> words(values.size());
  if (!values.empty()) std::memcpy(words.data(), values.data(), values.size() * sizeof(float));
  words.push_back(has_rows || !values.empty() ? 1 : 0);
  auto const all = group->Gather(Span<std::uint32_t const>{words});
  std::size_t first = all.size();
  for (std::size_t worker = 0; worker < all.size(); ++worker) {
    if (all[worker].back() == 0) continue;
    if (first == all.size()) first = worker;
    if (all[worker] == all[first]) continue;
    Throw<InvalidArgument>("feature_weights of worker ", worker, " are not those of worker ", first,
                           "; allowed: the same on all workers");
  }
  if (first == all.size()) return {};
  std::vector<float> common(all[first].size() - 1);
  if (!common.empty()) std::memcpy(common.data(), all[first].data(), common.size() * sizeof(float));
  return common;
}

Place Booster::AgreeOnRound(ProcessGroup* group, xgboost::DMatrix* data, std::string const& step) {
  if (params_.empty()) {
    xgboost::Json config{xgboost::Object{}};
    SaveConfig(&config);
    std::map<std::string, std::string> params;
    AddParams(config, &params);
    params_.assign(params.cbegin(), params.cend());
  }
  xgboost::MetaInfo const& info = data->Info();
  std::vector<Fact> facts{
      {"step", "round " + std::to_string(Rounds()) + ", " + step},
      {"booster", kind_ == Kind::kDart ? "dart" : "gbtree"},
      {"parameter seed", std::to_string(ctx_->seed)},
      {"base score", BitsOf(BaseScore(*model_))},
      {"number of outputs (num_class, or label columns)", std::to_string(model_->num_output_group)},
      {"number of columns", std::to_string(info.num_col_)},
      {"kind of matrix", HasBinsOnly(*data) ? "QuantileDMatrix" : "DMatrix"},
      {"number of bins", std::to_string(BinsFor(*data, config_.tree().max_bin))},
  };
  if (kind_ == Kind::kDart) facts.emplace_back("list of dropped trees", DroppedOf(dart_.drawn()));
  facts.insert(facts.end(), params_.begin(), params_.end());
  Agree(*group, facts, [&] {
    CheckGrows(config_.Updates(), config_.IsExact() ? "gpu_exact" : "gpu_hist");
    CheckTrainsInGroup(config_.device(), config_.IsExact(), config_.Sequence(), group->shards());
    DeviceParam on_host = config_.device();
    on_host.gpu_backend = "host";
    ToPlace(on_host, ctx_->fail_on_invalid_gpu_id);  // for what it refuses
  });
  AgreeOnTypes(group, data);
  return PlaceInGroup(group, config_.device(), info.num_row_);
}

bool Booster::ComputeGradientsInGroup(ProcessGroup* group, Training* training, ObjectiveParams const& objective,
                                      xgboost::MetaInfo const& info, XgbGradients* out) {
  std::uint64_t const rows = info.num_row_;
  std::uint32_t const outputs = model_->num_output_group;
  bool fits = true;
  TargetView targets;
  std::vector<float> const* margins = nullptr;
  Agree(*group, FactsOf(objective), [&] {
    FillMargins();
    margins = &LastPrediction().cache->predictions.ConstHostVector();
    CheckBaseScore(objective.kind, info, BaseScore(*model_), base_score_);
    if (rows == 0) return;
    if (IsRanking(objective.kind) && info.group_ptr_.empty() && info.weights_.Size() != 0) {
      // XGBoost takes the first weight as that of a single group. Each worker would make a group of its own rows.
      Throw<InvalidArgument>("There are ", info.weights_.Size(), " weights and no groups, the objective is a ranking, ",
                             "and this process is one of ", group->shards(),
                             " workers; allowed: groups (group or qid) with a weight for each, or no weights");
    }
    fits = LabelsFit(objective, info, outputs);
    if (!fits) return;
    targets = ViewTargets(info);
    training->Check(objective, targets, TargetMark::Of(targets, rows, objective.kind, KnownEpoch(), training->threads),
                    outputs);
  });
  std::int64_t const bad = -group->MaxOf(fits ? -group->shards() : -group->shard());
  if (!fits) return false;  // XGBoost has the words
  if (bad < group->shards()) {
    Throw<OtherShardFailed>("All stop because labels, weights or groups of worker ", bad, " of ", group->shards(),
                            " do not fit its rows; its own message says more");
  }
  auto const gradients = Resize(out, rows, outputs);
  HostStage(kObjective, [&] {
    host::ComputeGradients(objective, targets, RowMajor(margins->data(), rows, outputs),
                           RowMajor(gradients.data(), rows, outputs), training->threads, *group);
  });
  return true;
}

std::optional<double> Booster::EvaluateInGroup(ProcessGroup* group, MetricParams const& metric,
                                               xgboost::HostDeviceVector<float> const& predictions,
                                               xgboost::MetaInfo const& info) {
  std::uint64_t const rows = info.num_row_;
  std::uint32_t const outputs = model_->num_output_group;
  bool fits = true;
  // A worker that evaluates more metrics or matrices would wait for workers that have gone on, perhaps to a message of
  // XGBoost's own. So the lists are compared first.
  std::vector<Fact> facts{{"step", "evaluation"},
                          {"parameter eval_metric", MetricNamesOf(ctx_)},
                          {"number of evaluated matrices", std::to_string(EvaluatedMatrices())}};
  for (Fact& fact : FactsOf(metric)) facts.push_back(std::move(fact));
  Agree(*group, facts, [&] {
    FillPredictions(predictions);
    fits = rows == 0 || LabelsFit(metric, info, outputs);
  });
  std::int64_t any[] = {fits ? 0 : 1, rows == 0 ? 0 : 1};
  group->Max({any, 2});
  if (any[0] != 0 || any[1] == 0) return {};  // XGBoost's own code has the words
  TargetView const targets = ViewTargets(info);
  double value = 0;
  HostStage(kMetric, [&] {
    value = host::Evaluate(metric, targets, RowMajor(predictions.ConstHostVector().data(), rows, outputs),
                           ctx_->Threads(), *group);
  });
  return value;
}

}  // namespace xgbgpu::plugin
