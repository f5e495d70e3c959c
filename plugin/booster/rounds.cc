// Prepares, plans and grows boosting rounds, and computes their gradients.
#include "booster/rounds.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/message.h"
#include "base/stages.h"
#include "booster/category_names.h"
#include "booster/current_round.h"
#include "booster/group_facts.h"
#include "booster/stand_in.h"
#include "booster/training_checks.h"
#include "call/info_epoch.h"
#include "errors/boundary.h"
#include "errors/notice.h"
#include "group/process_group.h"
#include "matrix/adapt_input.h"
#include "matrix/coded_matrices.h"
#include "matrix/held_bins.h"
#include "matrix/held_matrix.h"
#include "matrix/matrix_rows.h"
#include "matrix/value_matrix.h"
#include "xgb/leaf_gradients.h"
#include "xgb/objective.h"
#include "xgb/owner.h"
#include "xgbgpu/device_policy.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

namespace {

// Steps of a round.
constexpr char const* kTrees = "trees";
std::string GradientsOf(ObjectiveParams const& objective) {
  return std::string{"gradients of "} + NameOf(objective.kind);
}

/// Empties cached predictions unless told that the round went well: half a round may be in them.
class CacheGuard {
 public:
  explicit CacheGuard(XgbCache* cache) : cache_{cache} {}
  ~CacheGuard() {
    if (cache_ != nullptr) Clear(cache_);
  }
  CacheGuard(CacheGuard const&) = delete;
  CacheGuard& operator=(CacheGuard const&) = delete;
  void RoundIsComplete() { cache_ = nullptr; }

 private:
  XgbCache* cache_;
};

/// Returns how many of `wanted` devices train fastest with these data and parameters.
int DevicesFor(xgboost::MetaInfo const& info, TreeParam const& param, LearnerView const& learner, int wanted) {
  bool const of_vectors = learner.grows_vector_leaves();
  WorkShape shape{info.num_nonzero_, info.num_col_, info.num_row_, param.max_bin, param.max_depth, param.max_leaves};
  shape.may_share = !of_vectors && CategoricalFeatures(info).empty() && param.grow_policy != "symmetric";
  (of_vectors ? shape.outputs : shape.trees) = learner.outputs();
  int const devices = DevicesWorthWhile(wanted, shape);
  if (devices < wanted) {
    std::string const size = std::to_string(info.num_row_) + " rows, " + std::to_string(info.num_nonzero_) + " values";
    InformOnce("n_gpus " + size, "parameter n_gpus allows " + std::to_string(wanted) + " GPUs, and " +
                                     std::to_string(devices) + " of them trains data of this size (" + size +
                                     ") fastest. The model is the same.");
  }
  return devices;
}

}  // namespace

void Rounds::Boost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
                   xgboost::ObjFunction const* objective) {
  Pending const pending = std::exchange(pending_, {});
  Margins& margins = **parts_.margins;
  if (config().Refreshes()) {
    AtBoundary("training", [&] { parts_.prediction->CheckHasValues(*data, "updater refresh"); });
  } else if (config().PrunesFirst()) {
    AtBoundary("training", [&] { parts_.prediction->CheckHasValues(*data, "updater prune"); });
  }
  ProcessGroup* const group = ProcessGroup::OfThisThread();
  bool const checks_with_others = group != nullptr && config().Trains();  // so that all fail if one worker does
  if (config().InCharge() && !checks_with_others) AtBoundary("training", [&] { CheckNames(data, *cache); });
  if (!config().Trains()) {
    margins.ForgetTrees();
    learner().stock()->DoBoost(data, gradients, cache, objective);
    return;
  }
  HostSpan span{"boost"};
  AtBoundary("training", [&] {
    CheckServes();
    if (HasOtherLeafGradients(*gradients)) {
      throw Unsupported{
          "The objective gives gradients for splits and others for leaves (split_grad), and gpu_hist takes one kind; "
          "supported: an objective without split_grad, or tree_method=hist"};
    }
    bool const on_device = pending.gradients == MatrixOf(gradients) && pending.data == data;
    auto const decide = [&] {
      if (checks_with_others) CheckNames(data, *cache);
      return Decide(data->Info(), MatrixOf(*gradients), objective, on_device,
                    [&] { return margins.OnHost(data, cache); });
    };
    Setup setup;
    Training& training = group != nullptr ? BeginInGroup(group, OwnerOf(data, *cache), on_device, decide, &setup)
                         : on_device      ? *pending.training
                                          : PrepareTraining(OwnerOf(data, *cache), kTrees);
    if (group == nullptr) setup = decide();
    margins.BeginRound(&training, data, *cache, setup.host_sets_leaves, &setup.order);
    parts_.trace->Flush();
    auto const round = Begin(&training, std::move(setup), on_device ? &pending : nullptr);
    try {
      GrowByStock(round.get(), on_device ? &training : nullptr, data, gradients, cache, objective);
    } catch (...) {
      parts_.settings->RestoreLearningRate();
      throw;
    }
    round->End(learner().rounds());
    margins.EndRound(&training);
  });
}

/// Throws InvalidArgument if a code means another category in the model, or in another batch. Stock code compares only
/// the numbers of categories.
void Rounds::CheckNames(xgboost::DMatrix* data, XgbCache const& cache) {
  DataKey key = KeyOf(data, cache);
  if (key == named_) return;
  CheckNotMixed(*data);
  auto const of_data = CategoryNames::Of(*data);
  if (of_data.none()) return;
  auto const of_model = CategoryNames::Of(learner());
  if (of_model.none()) return;  // it gets those of the data in this round
  of_data.CheckGoesOn(of_model);
  named_ = std::move(key);
}

/// Throws Unsupported for a learner whose rounds are not ours.
void Rounds::CheckServes() const {
  if (learner().has_vector_leaves()) CheckVectorLeaves(learner(), config().IsExact());
}

/// Returns why trees of vectors do not grow on the GPUs of `place`; nullptr: they do. In a group the same for all
/// workers, once they have agreed on the round.
char const* Rounds::WhyVectorsOnHost(Place const& place) const {
  bool const limits_memory =
      ProcessGroup::OfThisThread() != nullptr ? parts_.group->limits_memory() : place.memory.training_bytes != 0;
  if (limits_memory) return "with gpu_memory_limit";
  if (learner().drops_trees()) return "where trees are dropped (dart)";
  return nullptr;
}

/// Throws Unsupported if gpu_hist is in the place of XGBoost's hist, and XGBoost grows trees of vectors on a GPU where
/// gpu_hist would not.
void Rounds::CheckTakesVectors(Place const& place) const {
  if (config().device().gpu_takes.empty() || !learner().grows_vector_leaves()) return;
  char const* const why = WhyVectorsOnHost(place);
  if (why == nullptr) return;
  Throw<Unsupported>("Parameter multi_strategy is 'multi_output_tree', and trees of vectors grow on the CPU ", why,
                     "; supported with device=cuda: multi_strategy=one_output_per_tree");
}

/// Returns `place`, or the host, where trees of vectors grow on the host alone. The model is the same.
Place Rounds::PlaceOfTrees(Place place) const {
  // A worker without rows stands by while GPUs of the others train. Trees that grow on hosts need all workers.
  bool const is_of_gpus = place.backend == BackendKind::kCuda || place.with_rows != nullptr;
  if (!learner().grows_vector_leaves() || !is_of_gpus) return place;
  char const* const why = WhyVectorsOnHost(place);
  if (why == nullptr) return place;
  InformOnce("vector leaves",
             Message("parameter multi_strategy is 'multi_output_tree', and trees of vectors grow on the CPU ", why,
                     ". The model is the one that a GPU would give."));
  place.backend = BackendKind::kHost;
  place.devices = 1;
  place.with_rows = nullptr;
  return place;
}

SharedMatrix Rounds::Shared(std::shared_ptr<xgboost::DMatrix> const& data) const {
  HeldBins const* const held = AsHeldBins(data.get());
  bool const is_binned = IsBinned(*data), is_empty = data->Info().num_row_ == 0;
  bool const has_values = !is_binned || is_empty || (held != nullptr && held->ref() == nullptr);
  int const bins = is_binned && held == nullptr ? 0 : BinsFor(*data, config().tree().max_bin);
  return {DataKey{data}, data.get(), is_binned, has_values, bins};
}

/// Returns the training on `data`, once workers agree on the round and parameters allow it. `step` names the part of
/// the round.
Training& Rounds::PrepareTraining(std::shared_ptr<xgboost::DMatrix> const& data, std::string const& step) {
  Place place;
  int const wanted_bins = config().tree().max_bin;
  BinsOf bins = BinsAlone(*data, config().IsExact() ? kNoBins : wanted_bins);
  if (ProcessGroup* const group = ProcessGroup::OfThisThread()) {
    place = parts_.group->AgreeOnRound(group, Shared(data), step, (*parts_.margins)->SharedFacts());
    Agree(*group, {}, [&] { CheckTakesVectors(place); });
    place = PlaceOfTrees(place);
    bins = parts_.group->bins();
    if (place.backend == BackendKind::kCuda) parts_.prediction->SetWorkerDevice(place.device);
  } else {
    place = ChoosePlace(data->Info());
  }
  int const threads = learner().threads();
  Training& training = WithRequest(data, bins, threads, place, [&](DatasetRequest const& request) -> Training& {
    return parts_.trainings->Get(request, threads, [&] {
      if (bins.max_bin != kNoBins) ReportMaxBin(data.get(), wanted_bins);
    });
  });
  parts_.trace->BeginRound(parts_.settings, training.trainer.get());
  return training;
}

/// Takes a step of a round like the round before, with one message: no worker has anything new, and no worker has
/// failed. Returns the training on `data`. Null if a worker has news or has failed: all take the long way.
Training* Rounds::GoOn(ProcessGroup* group, std::shared_ptr<xgboost::DMatrix> const& data, std::string const& step,
                       std::vector<Fact> facts, Ready const& ready) {
  SharedMatrix const matrix = Shared(data);
  Training* training = nullptr;
  std::string known;
  try {
    if (auto const place = parts_.group->KnownPlace(group, matrix)) {
      parts_.group->CheckRound(group);
      BinsOf bins = parts_.group->bins();
      if (!matrix.is_binned) bins.max_bin = matrix.bins;  // the user may have changed it
      int const threads = learner().threads();
      std::int64_t number = 0;
      std::tie(training, number) =
          WithRequest(data, bins, threads, PlaceOfTrees(*place),
                      [&](DatasetRequest const& request) { return parts_.trainings->Find(request, threads); });
      if (training != nullptr) known = ready(training);
      if (!known.empty()) known += ", data set " + std::to_string(number);
    }
  } catch (ShardsLost const&) {
    throw;
  } catch (...) {  // it comes again on the long way
    known.clear();
  }
  std::vector<Fact> const of_margins = (*parts_.margins)->SharedFacts();
  facts.insert(facts.end(), of_margins.begin(), of_margins.end());
  if (!parts_.group->AllKnowRound(group, matrix, step, facts, known)) return nullptr;
  parts_.trace->BeginRound(parts_.settings, training->trainer.get());
  return training;
}

/// Returns the training on `data` and decides what the round is to do, once workers agree on both. `on_device`: the
/// gradients are there.
Training& Rounds::BeginInGroup(ProcessGroup* group, std::shared_ptr<xgboost::DMatrix> const& data, bool on_device,
                               std::function<Setup()> const& decide, Setup* setup) {
  bool const has_rows = data->Info().num_row_ != 0;
  std::vector<Fact> const where{{"place of the gradients", on_device ? "GPU" : "host"}};
  Training* const known = GoOn(group, data, kTrees, where, [&](Training*) -> std::string {
    *setup = decide();
    std::vector<float>& weights = setup->order.params.feature_weights;
    auto const of_all = parts_.group->KnownFeatureWeights(has_rows, weights);
    if (!of_all) return {};
    weights = *of_all;
    std::string const bits{reinterpret_cast<char const*>(weights.data()), weights.size() * sizeof(float)};
    return "feature weights " + std::to_string(HashText(bits));
  });
  if (known != nullptr) return *known;
  Training& training = PrepareTraining(data, kTrees);
  Agree(*group, where, [&] { *setup = decide(); });
  std::vector<float>& weights = setup->order.params.feature_weights;
  weights = parts_.group->AgreeOnFeatureWeights(group, has_rows, weights);
  return training;
}

/// Returns where a process without a group trains rows of these sizes. Throws if parameters do not allow it.
Place Rounds::ChoosePlace(xgboost::MetaInfo const& info) const {
  bool const exact = config().IsExact();
  CheckGrows(config().Updates(), exact ? "gpu_exact" : "gpu_hist");
  CheckDevices(config().device(), exact);
  Place place = ToPlace(config().device(), learner().context()->fail_on_invalid_gpu_id);
  if (info.num_row_ == 0) place = Place{BackendKind::kHost};  // a device needs a row
  place.devices = exact ? 1 : DevicesFor(info, config().tree(), learner(), place.devices);
  CheckTakesVectors(place);
  return PlaceOfTrees(place);
}

/// Decides what the round is to do. margins() returns those before the round, on the host. Throws if parameters,
/// gradients or leaves do not allow the round.
Rounds::Setup Rounds::Decide(xgboost::MetaInfo const& info, XgbGradientMatrix const& gradients,
                             xgboost::ObjFunction const* objective, bool on_device,
                             std::function<Span<float const>()> const& margins) const {
  Setup setup;
  RoundOrder& order = setup.order;
  ProcessGroup* const group = ProcessGroup::OfThisThread();
  order.params = ToTrainParams(config().tree(), config().device(), learner().seed(), config().IsExact());
  order.params.feature_weights = FeatureWeights(info);
  order.iteration = learner().rounds();
  if (config().LetsObjectivesSetLeaves()) order.leaves = LeafRuleOf(objective);
  bool const changes_leaves = order.leaves != LeafRule::kSums;
  if (learner().grows_vector_leaves()) CheckVectorRound(info, changes_leaves);
  bool const warns = group == nullptr || group->shard() == 0;
  if (changes_leaves) {
    CheckLeafRule(order.params, info.weights_.Size() != 0);
    if (warns) WarnIfConstraintsMayBreak(order.params.monotone_constraints);
  }
  if (order.leaves == LeafRule::kMedians) {
    CheckMediansAddUp(learner().drops_trees(), learner().TreesPerOutput());
    if (warns) WarnIfEtaIsIgnored(order.params.learning_rate);
  }
  if (order.leaves == LeafRule::kCaller) CheckStockSetsLeaves(*objective, info, View(gradients).size());
  setup.host_sets_leaves = changes_leaves && !on_device;
  if (setup.host_sets_leaves) {
    setup.residuals = {info.labels.Data()->ConstHostVector(), info.weights_.ConstHostVector(), margins(),
                       LeafAlphasOf(objective)};
  }
  bool const looks_at_all = group != nullptr ? info.num_row_ != 0 : View(gradients).size() > info.num_row_;
  if (!on_device && looks_at_all) CheckFinite(View(gradients), View(gradients).size() / info.num_row_);
  return setup;
}

/// Begins the engine's round: on the gradients `pending` on a device, or, if that is null, on XGBoost's.
std::unique_ptr<BoostingRound> Rounds::Begin(Training* training, Setup setup, Pending const* pending) const {
  if (pending == nullptr) return std::make_unique<HostRound>(training, std::move(setup.order), setup.residuals);
  // A dart draws the trees that it drops between rounds. Workers of a group begin no tree that one of them may give up.
  bool const may_speculate =
      !learner().drops_trees() && config().device().gpu_trace.empty() && ProcessGroup::OfThisThread() == nullptr;
  return std::make_unique<ResidentRound>(training, std::move(setup.order), pending->objective, pending->targets,
                                         may_speculate);
}

/// Has stock code make the round's trees, which asks our updater for each. `on_device`: the training, if gradients are
/// on a device, where stock code must not look for them; else null.
void Rounds::GrowByStock(BoostingRound* round, Training const* on_device, xgboost::DMatrix* data,
                         XgbGradients* gradients, XgbCache* cache, xgboost::ObjFunction const* objective) {
  // A booster that drops trees computes all predictions anew, so its cache never counts.
  CurrentRound const scope{round, !learner().drops_trees() && cache->version == learner().rounds(),
                           on_device == nullptr};
  xgboost::GradientBooster& stock = *learner().stock();
  if (on_device != nullptr) {
    if (one_row_ == nullptr) one_row_ = MakeOneRow();
    StandIn stand_in{one_row_.get(), *data, on_device->own.rows->outputs()};
    OneThread const one_thread{learner().context()};
    stock.DoBoost(stand_in.data(), stand_in.gradients(), stand_in.cache(), objective);
  } else {
    CacheGuard guard{cache};
    // XGBoost 3.4 looks at rows only to learn where they are. A matrix of ours would have to make its page for that.
    bool const hides_rows = AsHeld(data) != nullptr && config().IsPlain();
    auto const without_rows = hides_rows ? WithoutRows(data) : nullptr;
    stock.DoBoost(hides_rows ? without_rows.get() : data, gradients, cache, objective);
    guard.RoundIsComplete();
  }
  if (on_device != nullptr || learner().drops_trees()) Clear(cache);  // its margins are a round behind
}

bool Rounds::ComputeGradients(ObjectiveParams objective, xgboost::MetaInfo const& info, XgbGradientMatrix* out,
                              PositionBiases* next_biases) {
  pending_ = {};
  losses_.clear();
  objective.iteration = learner().rounds();
  objective.seed = learner().seed();
  LastPrediction const& last = LastPrediction::OfThisThread();
  // NOLINTNEXTLINE(clang-analyzer-*): the caller has asked who predicted last
  if (!config().Trains() || &last.data->Info() != &info) return false;
  CheckServes();
  auto const owner = OwnerOf(last.data, *last.cache);
  ProcessGroup* const group = ProcessGroup::OfThisThread();
  bool const done =
      group != nullptr ? ComputeInGroup(group, owner, objective, info, out) : ComputeAlone(owner, objective, info, out);
  if (done && !losses_.empty()) *next_biases = NextBiases(objective, losses_);
  return done;
}

bool Rounds::ComputeAlone(std::shared_ptr<xgboost::DMatrix> const& owner, ObjectiveParams const& objective,
                          xgboost::MetaInfo const& info, XgbGradientMatrix* out) {
  LastPrediction const& last = LastPrediction::OfThisThread();
  Training& training = PrepareTraining(owner, GradientsOf(objective));
  if (info.num_row_ == 0) return false;  // stock code has nothing to do
  if (StayOnDevice(training, objective)) {
    auto const targets = BringToDevice(&training, objective, info);
    if (targets) ComputeOnDevice(&training, objective, *targets, out);
    return targets.has_value();
  }
  (*parts_.margins)->FillLast();  // another trainer may have them
  std::vector<float> const& values = last.cache->predictions.ConstHostVector();
  std::uint64_t const rows = info.num_row_;
  auto const outputs = static_cast<std::uint32_t>(values.size() / rows);
  if (!LabelsFit(objective, info, outputs)) return false;
  auto [targets, mark] = Check(&training, objective, info, outputs);
  bool const is_cox = objective.kind == Objective::kCox;
  auto const times = is_cox ? parts_.time_orders->Get(DataKey{owner}, rows, targets, mark) : nullptr;
  if (times != nullptr) targets.by_time = *times;
  auto const gradients = Resize(out, rows, outputs);
  parts_.trace->Stage(kObjective, [&, &targets = targets] {
    host::ComputeGradients(objective, targets, RowMajor(values.data(), rows, outputs),
                           RowMajor(gradients.data(), rows, outputs), training.threads, NoOtherShards(), &losses_);
  });
  return true;
}

/// Tells whether margins and gradients of rounds stay on the device on which the training's trees grow. All workers of
/// a process group get the same answer.
bool Rounds::StayOnDevice(Training const& training, ObjectiveParams const& objective) const {
  if (!config().OwnsRounds() || training.trainer->rounds() == nullptr) return false;
  if (ProcessGroup::OfThisThread() == nullptr) return true;
  return StaysInShard(objective.kind) && !training.rounds_on_host;
}

/// Returns labels and weights, once they and the base score suit the objective.
Rounds::Targets Rounds::Check(Training* training, ObjectiveParams const& objective, xgboost::MetaInfo const& info,
                              std::uint32_t outputs) const {
  Targets targets{ViewTargets(info), {}};
  targets.mark = TargetMark::Of(targets.view, info.num_row_, objective.kind, KnownEpoch(), training->threads);
  training->Check(objective, targets.view, targets.mark, outputs);
  CheckBaseScore(objective.kind, info, learner().base_scores(), parts_.settings->base_score());
  return targets;
}

/// Gives the training's own rows on a device the margins of the last prediction. Returns the labels and weights of the
/// rows; nothing if stock code has to refuse them.
std::optional<Rounds::Targets> Rounds::BringToDevice(Training* training, ObjectiveParams const& objective,
                                                     xgboost::MetaInfo const& info) {
  LastPrediction const& last = LastPrediction::OfThisThread();
  bool const is_ready = (*parts_.margins)->ReadyOnDevice(training, last);
  bool const is_base = !is_ready && last.is_base;
  if (!is_ready && !is_base) (*parts_.margins)->FillLast();  // another trainer may have them
  std::vector<float> const& values = last.cache->predictions.ConstHostVector();
  auto const outputs = static_cast<std::uint32_t>(is_ready  ? training->own.rows->outputs()
                                                  : is_base ? learner().outputs()
                                                            : values.size() / info.num_row_);
  if (!LabelsFit(objective, info, outputs)) return {};
  Targets const targets = Check(training, objective, info, outputs);
  if (is_base) training->SetEqualMargins(learner().base_scores(), outputs, learner().rounds());
  if (!is_ready && !is_base) training->SetMargins(values, outputs, learner().rounds());
  return targets;
}

/// Computes the gradients of the training's own rows on a device, for the Boost that follows.
void Rounds::ComputeOnDevice(Training* training, ObjectiveParams const& objective, Targets const& targets,
                             XgbGradientMatrix* out) {
  training->ComputeGradients(objective, targets.view, targets.mark);
  if (!objective.biases.high.empty()) losses_ = training->own.rows->PositionLosses(objective.biases.high.size());
  ReleaseUnread(out);
  pending_ = {training, out, LastPrediction::OfThisThread().data, objective, targets.mark};
}

bool Rounds::ComputeInGroup(ProcessGroup* group, std::shared_ptr<xgboost::DMatrix> const& owner,
                            ObjectiveParams const& objective, xgboost::MetaInfo const& info, XgbGradientMatrix* out) {
  auto const margins = [&]() -> std::vector<float> const& {
    (*parts_.margins)->FillLast();
    return LastPrediction::OfThisThread().cache->predictions.ConstHostVector();
  };
  std::optional<GroupRounds::Inputs> inputs;
  std::optional<Targets> targets;
  std::string const step = GradientsOf(objective);
  Training* training = GoOn(group, owner, step, FactsOf(objective), [&](Training* found) -> std::string {
    if (StayOnDevice(*found, objective)) {
      targets = KnownOnDevice(found, objective, info);
      return targets ? "margins on the GPU" : "";
    }
    inputs = parts_.group->InputsOf(group, found, objective, info, margins);
    return inputs ? "inputs" : "";
  });
  if (training != nullptr && targets) {
    if (objective.biases.high.empty()) {
      ComputeOnDevice(training, objective, *targets, out);
    } else {
      Agree(*group, {}, [&] { ComputeOnDevice(training, objective, *targets, out); });
      AddUpLosses(group);
    }
    return true;
  }
  if (training == nullptr) {
    training = &PrepareTraining(owner, step);
    if (AgreeOnDevice(group, training, objective, info, out)) {
      AddUpLosses(group);
      return true;
    }
    inputs = parts_.group->AgreeOnInputs(group, training, objective, info, margins);
    if (training->rounds_on_host) training->own = {};  // trees need the room
    if (!inputs) return false;
  }
  parts_.group->ComputeGradients(group, *training, objective, info.num_row_, *inputs, out, &losses_);
  return true;
}

/// Adds up the losses of the workers' own rows, if there are any.
void Rounds::AddUpLosses(ProcessGroup* group) {
  if (!losses_.empty()) group->Sum(Span<std::int64_t>{losses_.data(), losses_.size()});
}

/// Returns labels and weights if the training's own rows have them, have the margins of the last prediction, and the
/// other workers know their bounds. Sends nothing.
std::optional<Rounds::Targets> Rounds::KnownOnDevice(Training* training, ObjectiveParams const& objective,
                                                     xgboost::MetaInfo const& info) const {
  if (!(*parts_.margins)->ReadyOnDevice(training, LastPrediction::OfThisThread())) return {};
  KeptRows const& own = training->own;
  if (!LabelsFit(objective, info, own.rows->outputs())) return {};
  Targets const targets = Check(training, objective, info, own.rows->outputs());
  if (own.targets != targets.mark || !own.rows->bounds_are_shared()) return {};
  return targets;
}

/// Gives the own rows of all workers margins, labels and weights, and computes the gradients. Returns false if all
/// workers compute on their hosts. `training` remembers it, unless stock code has to refuse labels.
bool Rounds::AgreeOnDevice(ProcessGroup* group, Training* training, ObjectiveParams const& objective,
                           xgboost::MetaInfo const& info, XgbGradientMatrix* out) {
  if (!StayOnDevice(*training, objective)) return false;
  bool has_room = true;
  auto const try_to = [&](std::vector<Fact> const& facts, std::function<void()> const& work) {
    Agree(*group, facts, [&] {
      try {
        work();
      } catch (OutOfDeviceMemory const&) {
        has_room = false;
      }
    });
  };
  std::optional<Targets> targets;
  try_to(FactsOf(objective), [&] {
    targets = BringToDevice(training, objective, info);
    if (targets && learner().drops_trees()) has_room = training->own.rows->has_columns();
  });
  bool const ranks = IsRanking(objective.kind);
  // A tree that is timed computes its gradients in another place, which changes what devices exchange.
  bool const traces = !config().device().gpu_trace.empty();
  std::int64_t any[] = {has_room && !targets ? 1 : 0,
                        has_room ? 0 : 1,
                        traces ? 1 : 0,
                        traces ? 0 : 1,
                        ranks && info.group_ptr_.empty() ? 1 : 0,
                        AdaptsLeaves(objective.kind) && info.weights_.Size() != 0 ? 1 : 0};
  group->Max({any, std::size(any)});
  training->rounds_on_host = any[1] != 0 || (any[2] != 0 && any[3] != 0) || any[4] != 0 || any[5] != 0;
  if (any[0] != 0 || training->rounds_on_host) return false;
  if (ranks) {
    targets->view.all_groups = host::AddUpGroups(targets->view, info.num_row_, *group);
    training->own.targets.reset();  // an evaluation may have set targets with this mark and without the totals
  }
  try_to({}, [&] {
    training->own.SetTargets(targets->view, targets->mark);
    training->own.rows->ReserveGradients(objective);
  });
  training->rounds_on_host = group->AnyOf(!has_room);
  if (training->rounds_on_host) return false;
  training->own.rows->ShareBounds();
  try_to({}, [&] { ComputeOnDevice(training, objective, *targets, out); });
  training->rounds_on_host = group->AnyOf(!has_room);
  if (training->rounds_on_host) pending_ = {};
  return !training->rounds_on_host;
}

}  // namespace xgbgpu::plugin
