// Compares what workers of a process group train with, and computes gradients over their rows.
#include "booster/group_rounds.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "base/hash.h"
#include "base/message.h"
#include "base/stages.h"
#include "booster/group_facts.h"
#include "booster/training_checks.h"
#include "errors/notice.h"
#include "group/group_place.h"
#include "matrix/adapt_input.h"
#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// A worker's number in a maximum if it has none: below all other numbers.
constexpr std::int64_t kNoOpinion = std::numeric_limits<std::int64_t>::min();

/// Returns the numbers of the features that are categories, as a text.
std::string NamesOf(std::vector<std::uint8_t> const& categorical) {
  std::string text;
  for (std::size_t f = 0; f < categorical.size(); ++f) {
    if (categorical[f] != 0) text += (text.empty() ? "" : ",") + std::to_string(f);
  }
  return text;
}

/// Compares which features are categorical. A matrix without rows and feature types gets the types of the first worker
/// that has types. Dask makes such a matrix for a worker with rows of an evaluation alone, without the frame of another
/// worker. A QuantileDMatrix gets no types, because it was already made with other types.
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

/// Returns the bins of a training. QuantileDMatrices get cuts of all workers' values, if every worker with rows holds
/// its values. Otherwise they keep XGBoost's bins. max_bin: the training's.
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

/// Compares the names of categories of all workers that have names. XGBoost reads another worker's codes as its own.
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

}  // namespace xgbgpu::plugin
