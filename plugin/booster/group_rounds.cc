// Compares what workers of a process group train with, and computes gradients and metrics over their rows.
#include "booster/group_rounds.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "base/float_bits.h"
#include "base/hash.h"
#include "base/message.h"
#include "base/stages.h"
#include "booster/training_checks.h"
#include "errors/notice.h"
#include "group/group_place.h"
#include "matrix/adapt_input.h"
#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "xgb/api_call.h"
#include "xgb/metric.h"
#include "xgb/owner.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// In a maximum: of a worker that has nothing to say.
constexpr std::int64_t kNoOpinion = std::numeric_limits<std::int64_t>::min();

/// Returns a text that is different for different bits.
std::string BitsOf(float value) {
  std::string digits = std::to_string(value);
  return digits + " (bits " + std::to_string(FloatBits(value)) + ")";
}
std::string BitsOf(std::vector<float> const& values) {
  std::string bits;
  for (float const value : values) bits += (bits.empty() ? "" : ",") + BitsOf(value);
  return bits;
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

std::string TextOf(std::vector<Fact> const& facts) {
  std::string text;
  for (auto const& [name, value] : facts) text += name + '\0' + value + '\0';
  return text;
}

/// Returns the numbers of a worker's own rows.
std::string NumbersOf(TargetView const& targets, std::uint64_t rows, std::uint32_t outputs, bool on_device) {
  std::string text;
  for (std::uint64_t const number :
       {rows, std::uint64_t{outputs}, std::uint64_t{targets.label_columns}, std::uint64_t{targets.groups},
        std::uint64_t{targets.group_ptr != nullptr}, std::uint64_t{targets.weights != nullptr},
        std::uint64_t{targets.labels != nullptr}, std::uint64_t{targets.lower != nullptr},
        std::uint64_t{targets.upper != nullptr}, std::uint64_t{on_device}}) {
    text += std::to_string(number) + ' ';
  }
  return text;
}

/// Returns the numbers of the features that are categories, as a text.
std::string NamesOf(std::vector<std::uint8_t> const& categorical) {
  std::string text;
  for (std::size_t f = 0; f < categorical.size(); ++f) {
    if (categorical[f] != 0) text += (text.empty() ? "" : ",") + std::to_string(f);
  }
  return text;
}

/// Compares which features are categorical. A matrix that has neither rows nor feature types gets the types of the
/// first worker that has some: Dask makes such a matrix for a worker that has rows of an evaluation alone, and cannot
/// know the frame of another worker. A QuantileDMatrix gets none, since it has been made with other types already.
void AgreeOnTypes(ProcessGroup* group, bool is_binned, xgboost::MetaInfo* info) {
  bool const lacks = info->num_row_ == 0 && info->feature_types.Empty() && !is_binned;
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

/// Returns the bins of a training. A QuantileDMatrix has the cuts of all workers' values if every worker with rows holds
/// them, and otherwise XGBoost's bins. max_bin: the training's.
BinsOf AgreeOnBins(ProcessGroup* group, SharedMatrix const& matrix, int max_bin) {
  if (!matrix.is_binned) return {matrix.bins, false};
  bool const has_say = matrix.bins != 0;
  std::int64_t most[] = {matrix.has_values ? 0 : 1, has_say ? matrix.bins : kNoOpinion,
                         has_say ? -std::int64_t{matrix.bins} : kNoOpinion};
  group->Max({most, 3});
  if (most[0] != 0 && group->shard() == 0) {
    InformOnce("bins of a group",
               "a QuantileDMatrix of a process group is trained on with XGBoost's bins, which depend on how rows are "
               "dealt: a worker has too little memory for a copy of its values, or they are not arrays of finite "
               "numbers. A DMatrix gives the model of one process.");
  }
  if (most[0] != 0 || most[1] == kNoOpinion) return {max_bin, true};
  if (most[1] != -most[2]) {
    Throw<InvalidArgument>("The QuantileDMatrices of the workers have from ", -most[2], " to ", most[1],
                           " bins (max_bin); allowed: the same number in all");
  }
  return {static_cast<int>(most[1]), false};
}

}  // namespace

std::vector<Fact> FactsOfEvaluation(XgbContext const* ctx) {
  return {{"step", "evaluation"},
          {"parameter eval_metric", MetricNamesOf(ctx)},
          {"number of evaluated matrices", std::to_string(CallState::OfThisThread().evaluated_matrices)}};
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
          {"parameter lambdarank_bias_norm", std::to_string(p.lambdarank.bias_norm)},
          {"position biases of pairs' larger labels", BitsOf(p.biases.high)},
          {"position biases of pairs' smaller labels", BitsOf(p.biases.low)}};
}

/// Compares the names of categories of all workers whose matrices have names. XGBoost takes codes of others for its own.
void GroupRounds::AgreeOnNames(ProcessGroup* group, CategoryNames const& names) const {
  int const own = group->shard();
  std::string const text = names.ToText();
  bool const lacks = text.empty();
  auto const number = static_cast<std::int64_t>(HashText(text) >> 1);
  std::int64_t most[] = {lacks ? kNoOpinion : number, lacks ? kNoOpinion : -number, lacks ? -group->shards() : -own};
  group->Max({most, 3});
  if (most[1] == kNoOpinion || most[0] == -most[1]) return;
  Agree(*group, {}, [&] {  // a model with names tells which worker is wrong
    auto const of_model = CategoryNames::Of(learner_);
    if (!lacks && !of_model.none()) names.CheckGoesOn(of_model);
  });
  auto const first = static_cast<int>(-most[2]);
  auto const of_first = CategoryNames::OfText(FirstText(*group, own == first ? text : ""));
  auto const on = [](int worker) { return Message("on worker ", worker); };
  std::string const difference = lacks ? "" : names.Unlike(of_first, on(own), on(first));
  Throw<InvalidArgument>(FirstText(*group, difference),
                         "; allowed: the same categories in the same order on every worker, as "
                         "column.cat.set_categories(…) lists them");
}

std::vector<float> GroupRounds::AgreeOnFeatureWeights(ProcessGroup* group, bool has_rows,
                                                      std::vector<float> const& weights) {
  std::vector<std::uint32_t> words(weights.size());
  if (!weights.empty()) std::memcpy(words.data(), weights.data(), weights.size() * sizeof(float));
  words.push_back(has_rows || !weights.empty() ? 1 : 0);
  auto const all = group->Gather(Span<std::uint32_t const>{words});
  std::size_t first = all.size();
  for (std::size_t worker = 0; worker < all.size(); ++worker) {
    if (all[worker].back() == 0) continue;
    if (first == all.size()) first = worker;
    if (all[worker] == all[first]) continue;
    Throw<InvalidArgument>("feature_weights of worker ", worker, " are not those of worker ", first,
                           "; allowed: the same on all workers");
  }
  std::vector<float> common;
  if (first != all.size()) common.resize(all[first].size() - 1);
  if (!common.empty()) std::memcpy(common.data(), all[first].data(), common.size() * sizeof(float));
  if (known_) known_->feature_weights = common;
  return common;
}

std::optional<std::vector<float>> GroupRounds::KnownFeatureWeights(bool has_rows,
                                                                   std::vector<float> const& weights) const {
  if (!known_ || !known_->feature_weights) return {};
  bool const may_say = has_rows || !weights.empty();
  if (may_say && weights != *known_->feature_weights) return {};
  return known_->feature_weights;
}

void GroupRounds::CheckRound(ProcessGroup const* group) const {
  BoosterConfig const& config = settings_.config();
  CheckGrows(config.Updates(), config.IsExact() ? "gpu_exact" : "gpu_hist");
  CheckTrainsInGroup(config.device(), config.IsExact(), config.Sequence(), group->shards());
  DeviceParam on_host = config.device();
  on_host.gpu_backend = "host";
  ToPlace(on_host, learner_.context()->fail_on_invalid_gpu_id);  // for what it refuses
}

std::vector<Fact> GroupRounds::FactsOfRound(SharedMatrix const& matrix, std::string const& step,
                                            std::vector<Fact> const& facts) {
  std::vector<Fact> all{
      {"step", "round " + std::to_string(learner_.rounds()) + ", " + step},
      {"booster", learner_.is_dart() ? "dart" : "gbtree"},
      {"parameter seed", std::to_string(learner_.context()->seed)},
      {"base score", BitsOf(learner_.base_scores())},
      {"number of outputs (num_class, or label columns)", std::to_string(learner_.outputs())},
      {"parameter multi_strategy", learner_.grows_vector_leaves() ? "multi_output_tree" : "one_output_per_tree"},
      {"number of columns", std::to_string(matrix.data->Info().num_col_)},
      {"kind of matrix", matrix.is_binned ? "QuantileDMatrix" : "DMatrix"},
  };
  all.insert(all.end(), facts.begin(), facts.end());
  std::vector<Fact> const& params = settings_.SharedParams();
  all.insert(all.end(), params.begin(), params.end());
  return all;
}

Place GroupRounds::AgreeOnRound(ProcessGroup* group, SharedMatrix const& matrix, std::string const& step,
                                std::vector<Fact> const& facts) {
  known_.reset();
  xgboost::MetaInfo& info = matrix.data->Info();
  CategoryNames names;
  Agree(*group, FactsOfRound(matrix, step, facts), [&] {
    CheckRound(group);
    names = CategoryNames::Of(*matrix.data);
  });
  AgreeOnTypes(group, matrix.is_binned, &info);
  AgreeOnNames(group, names);
  BinsOf const bins = AgreeOnBins(group, matrix, settings_.config().tree().max_bin);
  DeviceParam const& device = settings_.config().device();
  Place const place = PlaceInGroup(group, device, info.num_row_);
  bool const limits_memory = group->AnyOf(place.memory.training_bytes != 0);
  known_ = Known{
      group,         matrix.key, info.num_row_, NamesOf(CategoricalFeatures(info)), device.__DICT__(), place, bins,
      limits_memory, {}};
  return place;
}

std::optional<Place> GroupRounds::KnownPlace(ProcessGroup const* group, SharedMatrix const& matrix) const {
  xgboost::MetaInfo const& info = matrix.data->Info();
  bool const is_known = known_ && known_->group == group && known_->key == matrix.key &&
                        known_->rows == info.num_row_ && known_->categorical == NamesOf(CategoricalFeatures(info)) &&
                        known_->device == settings_.config().device().__DICT__();
  if (!is_known) return {};
  return known_->place;
}

bool GroupRounds::AllKnowRound(ProcessGroup* group, SharedMatrix const& matrix, std::string const& step,
                               std::vector<Fact> const& facts, std::string const& known) {
  return AllKnow(*group, FactsOfRound(matrix, step, facts), known);
}

std::optional<GroupRounds::Inputs> GroupRounds::InputsOf(
    ProcessGroup const* group, Training* training, ObjectiveParams const& objective, xgboost::MetaInfo const& info,
    std::function<std::vector<float> const&()> const& margins) const {
  std::uint64_t const rows = info.num_row_;
  std::uint32_t const outputs = learner_.outputs();
  Inputs inputs{{}, &margins()};
  CheckBaseScore(objective.kind, info, learner_.base_scores(), settings_.base_score());
  if (rows == 0) return inputs;
  if (IsRanking(objective.kind) && info.group_ptr_.empty() && info.weights_.Size() != 0) {
    // XGBoost takes the first weight for the weight of a single group. Each worker would make a group of its own rows.
    Throw<InvalidArgument>("There are ", info.weights_.Size(), " weights and no groups, the objective is a ranking, ",
                           "and this process is one of ", group->shards(),
                           " workers; allowed: groups (group or qid) with a weight for each, or no weights");
  }
  if (!LabelsFit(objective, info, outputs)) return {};
  inputs.targets = ViewTargets(info);
  training->Check(objective, inputs.targets,
                  TargetMark::Of(inputs.targets, rows, objective.kind, KnownEpoch(), training->threads), outputs);
  return inputs;
}

std::optional<GroupRounds::Inputs> GroupRounds::AgreeOnInputs(
    ProcessGroup* group, Training* training, ObjectiveParams const& objective, xgboost::MetaInfo const& info,
    std::function<std::vector<float> const&()> const& margins) const {
  std::optional<Inputs> inputs;
  Agree(*group, FactsOf(objective), [&] { inputs = InputsOf(group, training, objective, info, margins); });
  std::int64_t const bad = -group->MaxOf(inputs ? -group->shards() : -group->shard());
  if (!inputs) return {};  // XGBoost has the words
  if (bad < group->shards()) {
    Throw<OtherShardFailed>("All stop because labels, weights or groups of worker ", bad, " of ", group->shards(),
                            " do not fit its rows; its own message says more");
  }
  return inputs;
}

void GroupRounds::ComputeGradients(ProcessGroup* group, Training const& training, ObjectiveParams const& objective,
                                   std::uint64_t rows, Inputs const& inputs, XgbGradientMatrix* out,
                                   std::vector<std::int64_t>* losses) const {
  std::uint32_t const outputs = learner_.outputs();
  auto const gradients = Resize(out, rows, outputs);
  trace_.Stage(kObjective, [&] {
    host::ComputeGradients(objective, inputs.targets, RowMajor(inputs.margins->data(), rows, outputs),
                           RowMajor(gradients.data(), rows, outputs), training.threads, *group, losses);
  });
}

GroupRounds::Evaluated* GroupRounds::FindEvaluated(ProcessGroup const* group, DataKey const& key,
                                                   std::string const& step, std::string const& what) {
  if (group != evaluated_in_) {  // whose workers may have evaluated other numbers of matrices
    evaluated_in_ = group;
    evaluated_.clear();
    evaluations_ = 0;
  }
  EraseExpired(&evaluated_);
  for (Evaluated& one : evaluated_) {
    if (one.key == key && one.step == step && one.what == what) return &one;
  }
  return nullptr;
}

std::vector<GroupRounds::Evaluated*> GroupRounds::AskedWith(Evaluated* first) {
  std::vector<Evaluated*> all{first};
  for (Evaluated& one : evaluated_) {
    if (&one != first && one.key == first->key && one.step == first->step && one.asked == first->asked) {
      all.push_back(&one);
    }
  }
  std::sort(all.begin() + 1, all.end(), [](auto const* a, auto const* b) { return a->number < b->number; });
  return all;
}

double GroupRounds::EvaluateTogether(std::vector<Evaluated*> const& all, EvaluateMetrics const& evaluate,
                                     LastPrediction* last) {
  all.front()->asked = last->number;  // after an error the others are left out
  std::vector<MetricParams> metrics;
  std::vector<SharedRows*> shared;
  for (Evaluated* const one : all) {
    metrics.push_back(one->metric);
    shared.push_back(&one->shared);
  }
  std::vector<double> const values = evaluate(metrics, shared);
  for (std::size_t i = 0; i < all.size(); ++i) last->metrics.emplace_back(all[i]->step + all[i]->what, values[i]);
  return values.front();
}

/// The first evaluation of a matrix takes the long way, on which workers tell each other of their rows. Later ones take
/// a message to learn that all know what they knew then, and a message for the sums of all metrics that XGBoost is
/// going to ask for.
std::optional<double> GroupRounds::Evaluate(ProcessGroup* group, MetricParams const& metric, LastPrediction* last,
                                            xgboost::MetaInfo const& info,
                                            std::function<void()> const& fill_predictions) {
  std::vector<Fact> facts = FactsOfEvaluation(learner_.context()), metric_facts = FactsOf(metric);
  std::string const step = TextOf(facts), what = TextOf(metric_facts);
  DataKey const key = KeyOf(last->data, *last->cache);
  for (Evaluated& one : evaluated_) {
    if (one.key != key || one.what != what) continue;
    for (auto const& [of, value] : last->metrics) {
      if (of != one.step + one.what) continue;
      one.asked = last->number;
      return value;
    }
  }
  std::uint64_t const rows = info.num_row_;
  std::uint32_t const outputs = learner_.outputs();
  int const threads = learner_.threads();
  TargetView const targets = ViewTargets(info);
  KeptRows* const kept = last->kept;
  bool fits = true, on_device = kept != nullptr;
  auto const prepare = [&] {
    fits = rows == 0 || LabelsFit(metric, info, outputs);
    try {
      if (fits && on_device) {
        kept->SetTargets(targets, TargetMark::Of(targets, rows, last->objective.kind, KnownEpoch(), threads));
        kept->rows->ReservePredictions();
      }
    } catch (OutOfDeviceMemory const&) {
      on_device = false;
    }
    if (!on_device) fill_predictions();
  };
  auto const evaluate = [&](Span<MetricParams const> metrics, Span<SharedRows* const> shared) {
    if (on_device) return kept->rows->EvaluateInGroup(last->objective, metrics, targets, threads, group, shared);
    std::vector<double> values;
    trace_.Stage(kMetric, [&] {
      values = host::Evaluate(metrics, targets, RowMajor(last->evaluated->ConstHostVector().data(), rows, outputs),
                              threads, *group, shared);
    });
    return values;
  };

  std::vector<Evaluated*> all;
  std::string known;
  try {
    prepare();
    Evaluated* const found =
        fits ? FindEvaluated(group, key, step + NumbersOf(targets, rows, outputs, on_device), what) : nullptr;
    if (found != nullptr) all = AskedWith(found);
    bool const has_room = !on_device || std::all_of(all.begin(), all.end(), [&](Evaluated const* one) {
      return kept->rows->ReserveShared(one->shared);
    });
    if (!has_room) all.clear();
    for (Evaluated const* one : all) known += "evaluation " + std::to_string(one->number) + ' ';
  } catch (ShardsLost const&) {
    throw;
  } catch (...) {
    all.clear();  // it comes again on the long way
  }
  for (Fact& fact : metric_facts) facts.push_back(std::move(fact));
  if (AllKnow(*group, facts, all.empty() ? "" : known)) return EvaluateTogether(all, evaluate, last);

  Agree(*group, {}, prepare);
  // Workers may have counted evaluations differently, if one of them has failed alone.
  std::int64_t any[] = {fits ? 0 : 1, rows == 0 ? 0 : 1, evaluations_ + 1};
  group->Max({any, 3});
  if (any[0] != 0 || any[1] == 0) return {};  // XGBoost's own code has the words
  evaluations_ = any[2];
  SharedRows shared;
  SharedRows* const of_metric[] = {&shared};
  double const value = evaluate({&metric, 1}, {of_metric, 1}).front();
  std::string const own_step = step + NumbersOf(targets, rows, outputs, on_device);
  Evaluated* evaluated = FindEvaluated(group, key, own_step, what);
  if (evaluated == nullptr) evaluated = &evaluated_.emplace_back();
  *evaluated = {key, own_step, what, metric, evaluations_, last->number, std::move(shared)};
  return value;
}

}  // namespace xgbgpu::plugin
