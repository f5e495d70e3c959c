#include "booster/booster.h"

#include <xgboost/objective.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <utility>

#include "base/message.h"
#include "base/quoted.h"
#include "base/stages.h"
#include "booster/booster_group.h"
#include "booster/current_round.h"
#include "booster/memory_board.h"
#include "booster/stand_in.h"
#include "booster/training_checks.h"
#include "errors/boundary.h"
#include "errors/notice.h"
#include "matrix/adapt_input.h"
#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "models/model_forest.h"
#include "xgb/api_call.h"
#include "xgb/objective.h"
#include "xgb/registry.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/device_policy.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

namespace {

/// Json is a handle: a copy that can be changed needs new values all the way down.
xgboost::Json DeepCopy(xgboost::Json const& json) {
  std::string text;
  xgboost::Json::Dump(json, &text);
  return xgboost::Json::Load(xgboost::StringView{text});
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

/// All boosters of the process.
struct Boosters {
  std::mutex mutex;
  std::set<Booster const*> all;

  static Boosters& Instance() {
    static auto* const kBoosters = new Boosters;  // never freed: boosters may be at exit
    return *kBoosters;
  }
};

/// Says where the bins of a training are that are not in core.
void InformOfPages(Trainer const& trainer) {
  MemoryReport::Pages const pages = trainer.memory().pages;
  if (pages.count == 0) return;
  std::string const where = std::to_string(pages.count) + " pages: " + std::to_string(pages.memory_bytes) +
                            " bytes in host memory, " + std::to_string(pages.file_bytes) + " in a file";
  InformOnce("pages " + where,
             "a training on " + std::to_string(trainer.data().rows()) +
                 " rows would take more memory in core than it may (gpu_memory_limit, or what is free "
                 "on the GPU): its bins are in " +
                 where + ". The model is the same.");
}

/// Tells the memory board what a trainer holds.
TrainerPool::Watch WatchMemory() {
  return [](Trainer const& trainer) {
    InformOfPages(trainer);
    return std::make_unique<MemoryBoard::Note>(trainer);
  };
}

/// Returns how many of `wanted` devices train fastest with these data and parameters.
int DevicesFor(xgboost::MetaInfo const& info, TreeParam const& param, int wanted) {
  bool const may_share = CategoricalFeatures(info).empty() && param.grow_policy != "symmetric";
  int const devices = DevicesWorthWhile(wanted, {info.num_nonzero_, info.num_col_, info.num_row_, param.max_bin,
                                                 param.max_depth, param.max_leaves, may_share});
  if (devices < wanted) {
    std::string const size = std::to_string(info.num_row_) + " rows, " + std::to_string(info.num_nonzero_) + " values";
    InformOnce("n_gpus " + size, "parameter n_gpus allows " + std::to_string(wanted) + " GPUs, and " +
                                     std::to_string(devices) + " of them trains data of this size (" + size +
                                     ") fastest. The model is the same.");
  }
  return devices;
}

}  // namespace

Booster::Booster(Kind kind, xgboost::GradientBooster* stock, xgboost::LearnerModelParam const* model,
                 XgbContext const* ctx)
    : kind_{kind},
      stock_{stock},
      model_{model},
      ctx_{ctx},
      stock_dart_{stock},
      dart_{&stock_dart_},
      trainers_{WatchMemory()},
      on_device_{WarnOnce},
      dart_in_place_{WarnOnce, true},
      explanation_{WarnOnce} {
  DecorateNewcomers();  // XGBoost makes this learner's metrics after this
  Boosters& boosters = Boosters::Instance();
  std::lock_guard<std::mutex> const lock{boosters.mutex};
  boosters.all.insert(this);
}

Booster::~Booster() {
  Boosters& boosters = Boosters::Instance();
  std::lock_guard<std::mutex> const lock{boosters.mutex};
  boosters.all.erase(this);
}

bool Booster::TrainsFor(XgbContext const* ctx) {
  Boosters& boosters = Boosters::Instance();
  std::lock_guard<std::mutex> const lock{boosters.mutex};
  return std::any_of(boosters.all.cbegin(), boosters.all.cend(),
                     [&](Booster const* one) { return one->ctx_ == ctx && one->config_.Trains(); });
}

ModelView Booster::Model() const {
  return {Rounds(), model_->num_output_group, static_cast<FeatureIndex>(model_->num_feature), BaseScore(*model_),
          [this](std::function<void(ModelTree const&)> const& visit) { VisitTrees(*stock_, visit); }};
}

void Booster::ModelChanges() {
  trainers_.ForgetMargins();
  on_host_.Forget();
  on_device_.Forget();
  dart_in_place_.Forget();
  explanation_.Forget();
  dart_.Forget();
}

void Booster::Configure(xgboost::Args const& args) {
  AtBoundary("reading parameters", [&] {
    DecorateNewcomers();
    loaded_.CheckFeatures(args);
    BoosterConfig next = config_;
    auto const translated = next.Configure(args);
    QuietScope quiet{next.InCharge() && next.IsPlain()};
    if (next.Updates() != config_.Updates()) ModelIsReplaced();  // XGBoost takes trees out of the model
    // A stock booster whose Configure failed may have noted the updaters' names without making any. It makes them when
    // it sees other names, so show it others first: without updaters, training would crash.
    bool const failed_before = std::exchange(configure_failed_, true);
    bool const leaves_us = config_.InCharge() && !next.InCharge();
    if (failed_before && (next.InCharge() || leaves_us)) stock_->Configure({{"updater", "sync"}});
    // With "auto" a stock booster has the updaters that it had until its next round chooses others. Ours nobody else
    // knows: it goes there by way of "hist".
    bool const to_auto = std::any_of(args.begin(), args.end(),
                                     [](auto const& a) { return a.first == "tree_method" && a.second == "auto"; });
    if (leaves_us && to_auto) stock_->Configure({{"tree_method", "hist"}});
    stock_->Configure(translated);
    configure_failed_ = false;
    params_.clear();
    config_ = std::move(next);
    for (auto const& [name, value] : args) {
      if (name == "base_score") base_score_ = value;
    }
  });
}

void Booster::ModelComes(xgboost::Json const* in) {
  if (in == nullptr) {
    loaded_.Forget();
  } else {
    AtBoundary("loading a model", [&] { loaded_.CheckTrees(*in, ctx_->Threads()); });
  }
  ModelIsReplaced();
}

void Booster::CheckOutputs() const {
  AtBoundary("using a model", [&] { loaded_.CheckOutputs(model_->num_output_group); });
}

void Booster::CheckSlice(std::int32_t begin, std::int32_t end, std::int32_t step) const {
  if (!config_.InCharge()) return;
  AtBoundary("slicing a booster", [&] {
    if (step < 1) Throw<InvalidArgument>("The step of a slice of a booster is ", step, "; allowed: 1 or more");
    auto const all = static_cast<std::int32_t>(Rounds());
    std::int32_t const last = end == 0 ? all : end;
    if (begin < 0 || begin >= last || last > all || (last - begin) % step == 0) return;  // XGBoost has the words
    Throw<InvalidArgument>("The step of a slice of a booster is ", step, ", which does not divide its ", last - begin,
                           " rounds (", begin, " to ", last,
                           "): XGBoost would lose the last of the slice; allowed: 1, or ",
                           "a step that divides end - begin");
  });
}

void Booster::LoadConfig(xgboost::Json const& in) {
  AtBoundary("loading a configuration", [&] {
    xgboost::Json translated = DeepCopy(in);
    BoosterConfig next;
    next.Load(&GBTreeSection(&translated));
    params_.clear();
    stock_->LoadConfig(translated);
    config_ = std::move(next);
  });
}

void Booster::SaveConfig(xgboost::Json* out) const {
  AtBoundary("saving the configuration", [&] {
    stock_->SaveConfig(out);
    config_.Save(&GBTreeSection(out));
  });
}

xgboost::Json& Booster::GBTreeSection(xgboost::Json* config) const {
  return kind_ == Kind::kDart ? (*config)["gbtree"] : *config;
}

Training& Booster::Prepare(std::shared_ptr<xgboost::DMatrix> const& data, std::string const& step) {
  Place place;
  if (ProcessGroup* const group = ProcessGroup::OfThisThread()) {
    place = AgreeOnRound(group, data.get(), step);
    if (place.backend == BackendKind::kCuda) group_device_ = place.device;
  } else {
    CheckGrows(config_.Updates(), config_.IsExact() ? "gpu_exact" : "gpu_hist");
    CheckDevices(config_.device(), config_.IsExact());
    place = ToPlace(config_.device(), ctx_->fail_on_invalid_gpu_id);
    if (data->Info().num_row_ == 0) place = Place{BackendKind::kHost};  // a device needs a row
    place.devices = config_.IsExact() ? 1 : DevicesFor(data->Info(), config_.tree(), place.devices);
  }
  int const max_bin = config_.IsExact() ? kNoBins : BinsFor(*data, config_.tree().max_bin);
  int const threads = ctx_->Threads();
  Training& training = WithRequest(data, max_bin, threads, place, [&](DatasetRequest const& request) -> Training& {
    return trainers_.Get(request, threads, [&] {
      if (max_bin != kNoBins) ReportMaxBin(data.get(), config_.tree().max_bin);
    });
  });
  Trace(training.trainer.get());
  return training;
}

void Booster::Trace(Trainer* trainer) {
  std::string file = config_.device().gpu_trace;
  // Workers on one machine would write over each other's.
  ProcessGroup const* const group = ProcessGroup::OfThisThread();
  if (!file.empty() && group != nullptr && group->shard() != 0) file += ".worker" + std::to_string(group->shard());
  if (file != (trace_ == nullptr ? "" : trace_->name())) {
    trace_.reset();
    trainers_.EndTraces();  // that of another matrix may have the file, too: it ends when nobody has
    if (!file.empty()) {
      trace_ = std::make_shared<TraceFile>(file);
      config_.TracesTo(file);
    }
    if (trace_ != nullptr && trace_->replaces_another()) {
      WarnOnce("gpu_trace " + file, "parameter gpu_trace: " + QuotedName(file) +
                                        " is now written by another booster; the one before it writes no more.");
    }
  }
  trainer->Trace(trace_);
  if (!TraceFile::AnyOpen()) return;
  SetThreadTrace(trace_);
  if (trace_ != nullptr) trace_->SetRound(Rounds());
}

bool Booster::ComputeGradients(ObjectiveParams objective, xgboost::MetaInfo const& info, XgbGradients* out) {
  pending_ = {};
  objective.iteration = Rounds();
  objective.seed = static_cast<std::uint64_t>(ctx_->seed);
  Predicted const& predicted = LastPrediction();
  // NOLINTNEXTLINE(clang-analyzer-*): the caller has asked who predicted last
  if (!config_.Trains() || &predicted.data->Info() != &info) return false;
  auto const owner = OwnerOf(predicted.data, *predicted.cache);
  Training& training = Prepare(owner, std::string{"gradients of "} + NameOf(objective.kind));
  if (ProcessGroup* const group = ProcessGroup::OfThisThread()) {
    return ComputeGradientsInGroup(group, &training, objective, info, out);
  }
  if (info.num_row_ == 0) return false;  // stock code has nothing to do
  KeptRows& own = training.own;
  bool const on_host = !OwnsRounds() || training.trainer->backend() == BackendKind::kHost;
  bool const resident =
      !on_host && (kind_ == Kind::kDart ? predicted.training && HasColumns(&training, predicted.data, *predicted.cache)
                                        : IsCurrent(own));
  bool const is_base = !on_host && predicted.left_base;
  if (!resident && !is_base) FillMargins();  // another trainer may have them
  auto const& margins = predicted.cache->predictions.ConstHostVector();
  std::uint64_t const rows = info.num_row_;
  auto const outputs = static_cast<std::uint32_t>(resident  ? own.rows->outputs()
                                                  : is_base ? model_->num_output_group
                                                            : margins.size() / rows);
  if (!LabelsFit(objective, info, outputs)) return false;

  TargetView targets = ViewTargets(info);
  TargetMark const mark = TargetMark::Of(targets, rows, objective.kind, KnownEpoch(), training.threads);
  training.Check(objective, targets, mark, outputs);
  CheckBaseScore(objective.kind, info, BaseScore(*model_), base_score_);
  if (on_host) {
    auto const times =
        objective.kind == Objective::kCox ? time_orders_.Get(DataKey{owner}, rows, targets, mark) : nullptr;
    if (times != nullptr) targets.by_time = *times;
    auto const gradients = Resize(out, rows, outputs);
    HostStage(kObjective, [&] {
      host::ComputeGradients(objective, targets, RowMajor(margins.data(), rows, outputs),
                             RowMajor(gradients.data(), rows, outputs), training.threads);
    });
    return true;
  }
  if (!resident && is_base) training.SetEqualMargins(BaseScore(*model_), outputs, Rounds());
  if (!resident && !is_base) training.SetMargins(margins, outputs, Rounds());
  if (kind_ == Kind::kDart && resident) own.rows->WeighColumns(dart_.drawn());
  training.ComputeGradients(objective, targets, mark);
  Clear(out);
  pending_ = {&training, out, predicted.data, objective, mark};
  return true;
}

void Booster::DoBoost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
                      xgboost::ObjFunction const* objective) {
  Pending const pending = std::exchange(pending_, {});
  if (config_.Refreshes()) AtBoundary("training", [&] { CheckHasValues(*data, "updater refresh"); });
  if (!config_.Trains()) {
    ModelChanges();
    stock_->DoBoost(data, gradients, cache, objective);
    return;
  }
  HostSpan span{"boost"};
  AtBoundary("training", [&] {
    bool const on_device = pending.gradients == gradients && pending.data == data;
    Training& training = on_device ? *pending.training : Prepare(OwnerOf(data, *cache), "trees");
    RoundPlan plan = PlanRound(data, *gradients, cache, objective, on_device);
    RoundOrder& order = plan.order;
    order.keeps_trees = OwnsRounds() && !changed_on_host_ && training.EvaluatesOnDevice();
    std::optional<std::uint32_t> columns_of;
    if (kind_ == Kind::kDart && OwnsRounds() && HasColumns(&training, data, *cache)) {
      columns_of = ReserveRound(&training, order.iteration);
    }
    order.adds_columns = columns_of && !changed_on_host_;  // leaves that are yet to change are recorded later
    if (trace_ != nullptr) trace_->Write();

    std::unique_ptr<BoostingRound> round;
    if (on_device) {
      bool const may_speculate = kind_ == Kind::kGBTree && config_.device().gpu_trace.empty();
      round = std::make_unique<ResidentRound>(&training, std::move(order), pending.objective, pending.targets,
                                              may_speculate);
    } else {
      round = std::make_unique<HostRound>(&training, std::move(order), plan.residuals);
    }
    BoostByStock(round.get(), on_device ? &training : nullptr, data, gradients, cache, objective);
    round->End(Rounds());
    if (kind_ == Kind::kDart) EndDartRound(&training, columns_of);
  });
}

std::int64_t Booster::TreesPerOutput() const {
  xgboost::Json config{xgboost::Object{}};
  stock_->SaveConfig(&config);
  xgboost::Json const& model = GBTreeSection(&config)["gbtree_model_param"];
  return std::stoll(xgboost::get<xgboost::String const>(model["num_parallel_tree"]));
}

Booster::RoundPlan Booster::PlanRound(xgboost::DMatrix* data, XgbGradients const& gradients, XgbCache* cache,
                                      xgboost::ObjFunction const* objective, bool on_device) {
  RoundPlan plan;
  RoundOrder& order = plan.order;
  xgboost::MetaInfo const& info = data->Info();
  auto const check_gradients = [&] { CheckFinite(View(gradients), gradients.Size() / info.num_row_); };
  ProcessGroup* const group = ProcessGroup::OfThisThread();
  auto const decide = [&] {
    order.params =
        ToTrainParams(config_.tree(), config_.device(), static_cast<std::uint64_t>(ctx_->seed), config_.IsExact());
    order.params.feature_weights = FeatureWeights(info);
    order.iteration = Rounds();
    if (config_.LetsObjectivesSetLeaves()) order.leaves = LeafRuleOf(objective);
    bool const changes_leaves = order.leaves != LeafRule::kSums;
    if (changes_leaves) CheckLeafRule(order.params, info.weights_.Size() != 0);
    if (order.leaves == LeafRule::kMedians) {
      CheckMediansAddUp(kind_ == Kind::kDart, TreesPerOutput());
      if (group == nullptr || group->shard() == 0) SayWhatEtaDoes(order.params.learning_rate);
    }
    changed_on_host_ = changes_leaves && !on_device;
    if (changed_on_host_) {
      plan.residuals = {info.labels.Data()->ConstHostVector(), info.weights_.ConstHostVector(),
                        NeedMargins(data, cache)};
    }
  };
  if (group == nullptr) {
    decide();
    if (!on_device && gradients.Size() > info.num_row_) check_gradients();
    return plan;
  }
  Agree(*group, {}, [&] {
    decide();
    CheckLeavesInGroup(order.leaves, group->shards());
    if (info.num_row_ != 0) check_gradients();
  });
  order.params.feature_weights = OfWorkersWithRows(group, info.num_row_ != 0, order.params.feature_weights);
  return plan;
}

void Booster::BoostByStock(BoostingRound* round, Training const* on_device, xgboost::DMatrix* data,
                           XgbGradients* gradients, XgbCache* cache, xgboost::ObjFunction const* objective) {
  // dart computes all predictions anew, so what it has cached never counts.
  CurrentRound const scope{round, kind_ == Kind::kGBTree && cache->version == Rounds()};
  if (on_device != nullptr) {
    StandIn stand_in{on_device->own.rows->outputs()};
    stock_->DoBoost(stand_in.data(), stand_in.gradients(), stand_in.cache(), objective);
  } else {
    CacheGuard guard{cache};
    stock_->DoBoost(data, gradients, cache, objective);
    guard.RoundIsComplete();
  }
  if (on_device != nullptr || kind_ == Kind::kDart) Clear(cache);  // what it holds is a round behind
}

Span<float const> Booster::NeedMargins(xgboost::DMatrix* data, XgbCache* cache) {
  DropOlderMargins(data, cache, true);
  bool const are_missing = cache->predictions.Size() == 0 && data->Info().num_row_ != 0;
  // What dart has cached is without the trees that it dropped, and has no version.
  if (are_missing || (kind_ != Kind::kDart && cache->version != Rounds())) PredictBatch(data, cache, false, {0, 0});
  return cache->predictions.ConstHostVector();
}

bool Booster::IsCurrent(KeptRows const& kept) const {
  // Without a round XGBoost takes margins from its matrix anew each time: they may have been set.
  return kept.rows != nullptr && kept.rounds == Rounds() && Rounds() > 0;
}

Booster::Predicted& Booster::LastPrediction() {
  static thread_local Predicted last{};
  return last;
}

Booster* Booster::WhichPredicted(xgboost::HostDeviceVector<float> const& margins, XgbContext const* ctx) {
  return LastPrediction().margins == &margins ? WhichPredictedLast(ctx) : nullptr;
}

Booster* Booster::WhichPredictedLast(XgbContext const* ctx) {
  auto const by = LastPrediction().by.lock();
  return by != nullptr && (*by)->ctx_ == ctx ? *by : nullptr;
}

void Booster::FillMargins() {
  Predicted& last = LastPrediction();
  if (std::exchange(last.left_base, false)) {
    PredictAnew(last.data, last.cache, last.training, {0, 0});
    return;
  }
  if (kind_ == Kind::kDart) {
    if (last.kept != nullptr) CopyMargins(*last.kept, last.cache);
    return;
  }
  if (Training* const training = trainers_.FindMargins(KeyOf(last.data, *last.cache), Rounds()))
    CopyMargins(training->own, last.cache);
}

void Booster::CopyMargins(KeptRows const& kept, XgbCache* out) {
  std::lock_guard<std::mutex> lock{margins_mutex_};
  auto& margins = out->predictions.HostVector();
  std::size_t const size = kept.rows->rows() * kept.rows->outputs();
  if (kind_ == Kind::kGBTree && out->version == kept.rounds && margins.size() == size) return;
  out->version = 0;
  margins.resize(size);
  kept.rows->CopyMargins(margins);
  // The version of a dart is its last round, as in stock code: its cached margins never count.
  out->version = kind_ == Kind::kGBTree ? *kept.rounds : *kept.rounds - 1;
}

bool Booster::LeaveBase(xgboost::DMatrix const* data, XgbCache const* out) const {
  bool const leaves = Rounds() == 0 && CurrentApiCall() == ApiCall::kUpdate && out->predictions.Size() == 0 &&
                      data->Info().base_margin_.Size() == 0 && IsDecorated(ctx_);
  LastPrediction().left_base = leaves;
  return leaves;
}

bool Booster::ServeMargins(xgboost::DMatrix* data, XgbCache* out) {
  Training* const training = trainers_.FindMargins(KeyOf(data, *out), Rounds());
  if (training == nullptr || !IsCurrent(training->own)) return false;
  {
    // Who predicts first after the first round of a forest begins with its matrix's margins, in XGBoost: they may have
    // been set.
    std::lock_guard<std::mutex> lock{margins_mutex_};
    bool const is_first = std::exchange(training->own.of_forest, false) && Rounds() == 1;
    if (is_first && data->Info().base_margin_.Size() != 0) {
      training->own.rounds.reset();
      return false;
    }
  }
  ApiCall const call = CurrentApiCall();
  if (call == ApiCall::kEvaluate && IsDecorated(ctx_)) {
    LastPrediction().kept = &training->own;
    return true;
  }
  if (call == ApiCall::kUpdate && IsDecorated(ctx_)) return true;
  try {
    CopyMargins(training->own, out);
    return true;
  } catch (DeviceError const&) {
    if (call == ApiCall::kUpdate) throw;
    training->own.rounds.reset();  // in a process forked from this one, for instance: the host can predict anew
    Clear(out);
    return false;
  }
}

bool Booster::ServeEvaluation(xgboost::DMatrix* data, XgbCache* out) {
  Training* const training = trainers_.Newest();
  bool const evaluates = CurrentApiCall() == ApiCall::kEvaluate;
  if (training == nullptr || Rounds() == 0 || changed_on_host_) return false;
  DataKey const key = KeyOf(data, *out);
  // A matrix of training whose margins are not on a device (own objectives) has them in XGBoost's cache.
  if (trainers_.TrainingOf(key) != nullptr) return false;
  KeptRows* kept = nullptr;
  {
    std::lock_guard<std::mutex> lock{margins_mutex_};
    kept = training->Advance(key, Rounds());
  }
  if (kept != nullptr && evaluates && IsDecorated(ctx_)) {
    Clear(out);
    LastPrediction().kept = kept;
    return true;
  }
  if (kept != nullptr) {
    CopyMargins(*kept, out);
    return true;
  }
  if (!evaluates) return false;
  PredictAnew(data, out, false, {0, 0});
  auto const of_bins = binned_values_.Find(key);
  xgboost::DMatrix* const values = ReadsBins(*data) ? of_bins.get() : data;
  if (values == nullptr) return true;  // there are no values to keep on the device
  if (training->Admit(key, DMatrixRows{values}, out->predictions.ConstHostVector(), Rounds())) binned_values_.Drop(key);
  return true;
}

void Booster::PredictBatch(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  HostSpan span{training ? "margins" : "predict"};
  if (TraceFile::AnyOpen()) {
    SetThreadTrace(trace_);
    if (training && trace_ != nullptr) trace_->SetRound(Rounds());
  }
  trainers_.DropExpired();
  binned_values_.DropExpired();
  time_orders_.DropExpired();
  AtBoundary("predicting", [&] { CheckRounds(rounds); });
  LastPrediction() = {self_, data, out, &out->predictions, nullptr, nullptr, {}, training, false};
  DropOlderMargins(data, out, training);
  if (kind_ == Kind::kDart) {
    PredictDart(data, out, training, rounds);
    return;
  }
  bool const all_rounds = rounds.first == 0 && (rounds.last == 0 || rounds.last == Rounds());
  bool const served =
      all_rounds && OwnsRounds() && ProcessGroup::OfThisThread() == nullptr && AtBoundary("predicting", [&] {
        return (training && LeaveBase(data, out)) || ServeMargins(data, out) || ServeEvaluation(data, out);
      });
  if (!served) PredictAnew(data, out, training, rounds);
}

bool Booster::BeginEvaluation(std::optional<ObjectiveParams> const& objective,
                              xgboost::HostDeviceVector<float>* predictions) {
  Predicted& last = LastPrediction();
  if (!OwnsRounds()) return false;
  if (objective && last.kept != nullptr) {
    last.evaluated = predictions;
    last.objective = *objective;
    return true;
  }
  if (last.kept != nullptr) Bring(predictions);
  if (!objective) return false;
  std::uint64_t const rows = last.data->Info().num_row_;  // NOLINT(clang-analyzer-*): the caller asked who predicted
  auto& values = predictions->HostVector();
  if (rows == 0 && ProcessGroup::OfThisThread() != nullptr) {
    last.evaluated = predictions;  // others have rows
    last.objective = *objective;
    return true;
  }
  if (rows == 0 || values.size() % rows != 0) return false;
  auto const outputs = static_cast<std::uint32_t>(values.size() / rows);
  host::Transform(*objective, RowMajor<float const>(values.data(), rows, outputs),
                  RowMajor(values.data(), rows, outputs), ctx_->Threads());
  last.evaluated = predictions;
  last.objective = *objective;
  return true;
}

void Booster::Bring(xgboost::HostDeviceVector<float>* predictions) {
  Predicted& last = LastPrediction();
  CopyMargins(*last.kept, last.cache);  // NOLINT(clang-analyzer-*): callers know that there are kept rows
  predictions->HostVector() = last.cache->predictions.ConstHostVector();
  last.kept = nullptr;
}

std::optional<double> Booster::Evaluate(MetricParams const& metric, xgboost::HostDeviceVector<float> const& predictions,
                                        xgboost::MetaInfo const& info) {
  Predicted& last = LastPrediction();
  if (last.evaluated != &predictions || &last.data->Info() != &info) return {};
  if (ProcessGroup* const group = ProcessGroup::OfThisThread())
    return EvaluateInGroup(group, metric, predictions, info);
  std::uint64_t const rows = info.num_row_;
  auto const outputs = static_cast<std::uint32_t>(last.kept ? last.kept->rows->outputs() : predictions.Size() / rows);
  if (!LabelsFit(metric, info, outputs)) return {};
  TargetView targets = ViewTargets(info);
  if (last.kept == nullptr) {
    double value = 0;
    HostStage(kMetric, [&] {
      std::shared_ptr<TimeOrder const> times;
      if (metric.kind == Metric::kCoxNloglik) {
        auto const mark = TargetMark::Of(targets, rows, Objective::kCox, KnownEpoch(), ctx_->Threads());
        times = time_orders_.Get(KeyOf(last.data, *last.cache), rows, targets, mark);
        targets.by_time = *times;
      }
      value = host::Evaluate(metric, targets, RowMajor(predictions.ConstHostVector().data(), rows, outputs),
                             ctx_->Threads());
    });
    return value;
  }
  try {
    last.kept->SetTargets(targets, TargetMark::Of(targets, rows, last.objective.kind, KnownEpoch(), ctx_->Threads()));
    return last.kept->rows->Evaluate(last.objective, metric);
  } catch (OutOfDeviceMemory const&) {
    FillPredictions(predictions);  // the host has room
    return Evaluate(metric, predictions, info);
  }
}

void Booster::FillPredictions(xgboost::HostDeviceVector<float> const& predictions) {
  Predicted& last = LastPrediction();
  if (last.evaluated != &predictions || last.kept == nullptr) return;
  Bring(last.evaluated);
  BeginEvaluation(last.objective, last.evaluated);
}

}  // namespace xgbgpu::plugin
