#include "booster.h"

#include <xgboost/c_api.h>
#include <xgboost/generic_parameters.h>
#include <xgboost/objective.h>
#include <xgboost/predictor.h>
#include <xgboost/task.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "adapt_input.h"
#include "adapt_tree.h"
#include "api_call.h"
#include "boundary.h"
#include "core/message.h"
#include "host_span.h"
#include "level/stages.h"
#include "newcomers.h"
#include "notice.h"
#include "objective.h"
#include "round.h"
#include "stand_in.h"
#include "xgbgpu/error.h"

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
  explicit CacheGuard(xgboost::PredictionCacheEntry* cache) : cache_{cache} {}
  ~CacheGuard() {
    if (cache_ != nullptr) Clear(cache_);
  }
  CacheGuard(CacheGuard const&) = delete;
  CacheGuard& operator=(CacheGuard const&) = delete;
  void RoundIsComplete() { cache_ = nullptr; }

 private:
  xgboost::PredictionCacheEntry* cache_;
};

void CheckOneWorker(char const* tree_method) {
  int const workers = XGCommunicatorGetWorldSize();
  if (workers == 1) return;
  Throw<Unsupported>("Parameter tree_method is '", tree_method,
                     "', which does not train distributed, and this process is one of ", workers,
                     " workers; supported: one worker, or tree_method=hist on all of them");
}

/// XGBoost says so, too, but names the updater, which the user has not chosen.
void CheckGrows(bool updates, char const* tree_method) {
  if (!updates) return;
  Throw<InvalidArgument>("Parameter process_type is 'update', and ", tree_method,
                         " grows new trees; allowed: default, or update with updater=refresh or prune");
}

/// XGBoost looks at base_score for logistic objectives; others may begin with its logarithm. `margin`: what they made
/// of it.
void CheckBaseScore(Objective objective, xgboost::MetaInfo const& info, float margin, std::string const& base_score) {
  if (info.base_margin_.Size() != 0 || std::isfinite(margin)) return;
  // Of the margin -inf these two have gradients: a model of zeros, as in stock.
  bool const may_be_zero = objective == Objective::kPoisson || objective == Objective::kAft;
  if (may_be_zero && std::isinf(margin)) return;
  Throw<InvalidArgument>("Parameter base_score is ", base_score.empty() ? "0 or less" : base_score,
                         "; allowed: ", may_be_zero ? "0 or larger" : "larger than 0",
                         ", since the objective takes its logarithm");
}

}  // namespace

Booster::Booster(Kind kind, std::unique_ptr<xgboost::GradientBooster> inner, xgboost::LearnerModelParam const* model,
                 xgboost::GenericParameter const* ctx)
    : GradientBooster{ctx},
      kind_{kind},
      model_{model},
      inner_{std::move(inner)},
      dart_{inner_.get()},
      on_device_{model},
      dart_in_place_{model, true},
      explanation_{model} {
  DecorateNewcomers();  // this learner's metrics are made later
}

void Booster::Configure(xgboost::Args const& args) {
  AtBoundary("reading parameters", [&] {
    DecorateNewcomers();
    loaded_.CheckFeatures(args);
    BoosterConfig next = config_;
    auto const translated = next.Configure(args);
    QuietScope quiet{next.InCharge() && next.IsPlain()};
    bool const sets_objective =
        std::any_of(args.cbegin(), args.cend(), [](auto const& a) { return a.first == "objective"; });
    if (sets_objective) ObjectiveMayChange();
    if (next.Updates() != config_.Updates()) ModelIsReplaced();  // XGBoost takes trees out of the model
    // A stock booster whose Configure failed may have noted the updaters' names without making any. It makes them when
    // it sees other names, so show it others first: without updaters, training would crash.
    bool const failed_before = std::exchange(configure_failed_, true);
    bool const leaves_us = config_.InCharge() && !next.InCharge();
    if (failed_before && (next.InCharge() || leaves_us)) inner_->Configure({{"updater", "sync"}});
    // With "auto" a stock booster has the updaters that it had until its next round chooses others. Ours nobody else
    // knows: it goes there by way of "hist".
    bool const to_auto = std::any_of(args.begin(), args.end(),
                                     [](auto const& a) { return a.first == "tree_method" && a.second == "auto"; });
    if (leaves_us && to_auto) inner_->Configure({{"tree_method", "hist"}});
    inner_->Configure(translated);
    configure_failed_ = false;
    config_ = std::move(next);
    for (auto const& [name, value] : args) {
      if (name == "base_score") base_score_ = value;
    }
  });
}

void Booster::LoadConfig(xgboost::Json const& in) {
  AtBoundary("loading a configuration", [&] {
    xgboost::Json translated = DeepCopy(in);
    BoosterConfig next;
    next.Load(&GBTreeSection(&translated));
    ObjectiveMayChange();
    inner_->LoadConfig(translated);
    config_ = std::move(next);
  });
}

void Booster::SaveConfig(xgboost::Json* out) const {
  AtBoundary("saving the configuration", [&] {
    inner_->SaveConfig(out);
    config_.Save(&GBTreeSection(out));
  });
}

xgboost::Json& Booster::GBTreeSection(xgboost::Json* config) const {
  return kind_ == Kind::kDart ? (*config)["gbtree"] : *config;
}

Training& Booster::Prepare(std::shared_ptr<xgboost::DMatrix> const& data) {
  char const* const tree_method = config_.IsExact() ? "gpu_exact" : "gpu_hist";
  CheckOneWorker(tree_method);
  CheckGrows(config_.Updates(), tree_method);
  Place const place = ToPlace(config_.device(), ctx_->fail_on_invalid_gpu_id);
  int const max_bin = config_.IsExact() ? kNoBins : config_.tree().max_bin;
  Training& training = trainers_.Get(data, max_bin, place, ctx_->Threads());
  Trace(training.trainer.get());
  return training;
}

void Booster::Trace(Trainer* trainer) {
  std::string const& file = config_.device().gpu_trace;
  if (file != (trace_ == nullptr ? "" : trace_->name())) {
    trace_.reset();
    trainers_.EndTraces();  // that of another matrix may have the file, too: it ends when nobody has
    if (!file.empty()) trace_ = std::make_shared<TraceFile>(file);
    if (trace_ != nullptr && trace_->replaces_another()) {
      WarnOnce("gpu_trace " + file, "parameter gpu_trace: '" + file +
                                        "' is now written by another booster; the one before it writes no more.");
    }
  }
  trainer->Trace(trace_);
  if (!TraceFile::AnyOpen()) return;
  SetThreadTrace(trace_);
  if (trace_ != nullptr) trace_->SetRound(Rounds());
}

bool Booster::ComputeGradients(ObjectiveParams objective, xgboost::MetaInfo const& info,
                               xgboost::HostDeviceVector<xgboost::GradientPair>* out) {
  pending_ = {};
  knows_objective_ = true;
  objective.iteration = Rounds();
  objective.seed = static_cast<std::uint64_t>(ctx_->seed);
  Predicted const& predicted = LastPrediction();
  // NOLINTNEXTLINE(clang-analyzer-*): the caller has asked who predicted last
  if (!config_.Trains() || &predicted.data->Info() != &info) return false;
  Training& training = Prepare(OwnerOf(predicted.data, *predicted.cache));
  Resident& own = training.own;
  bool const on_host = !OwnsRounds() || training.trainer->backend() == BackendKind::kHost;
  bool const resident =
      !on_host && (kind_ == Kind::kDart ? predicted.training && HasColumns(&training, predicted.data, *predicted.cache)
                                        : IsCurrent(own));
  if (!resident) FillMargins();  // another trainer may have them
  auto const& margins = predicted.cache->predictions.ConstHostVector();
  std::uint64_t const rows = info.num_row_;
  auto const outputs = static_cast<std::uint32_t>(resident ? own.rows->outputs() : margins.size() / rows);
  if (!LabelsFit(objective, info, outputs)) return false;

  TargetView targets = ViewTargets(info);
  TargetMark const mark = TargetMark::Of(targets, rows, objective.kind, training.threads);
  training.Check(objective, targets, mark, outputs);
  CheckBaseScore(objective.kind, info, model_->BaseScore(xgboost::GenericParameter::kCpuId)(0), base_score_);
  if (on_host) {
    auto const times = objective.kind == Objective::kCox
                           ? time_orders_.Get(OwnerOf(predicted.data, *predicted.cache), targets, mark)
                           : nullptr;
    if (times != nullptr) targets.by_time = times->view();
    auto& gradients = out->HostVector();
    gradients.resize(rows * outputs);
    HostStage(kObjective, [&] {
      host::ComputeGradients(objective, targets, RowMajor(margins.data(), rows, outputs),
                             RowMajor(reinterpret_cast<GradientPair*>(gradients.data()), rows, outputs),
                             training.threads);
    });
    return true;
  }
  if (!resident) {
    own.rounds.reset();
    training.has_gradients_ahead = false;
    if (own.rows == nullptr || own.rows->outputs() != outputs) {
      training.trainer->Abandon();
      own = {};  // before the new one needs memory
      own.rows = training.trainer->MakeResidentRows(outputs);
    }
    own.rows->SetMargins(margins);
    own.rounds = Rounds();
  }
  if (kind_ == Kind::kDart && resident) own.rows->WeighColumns(dart_.drawn());
  own.SetTargets(targets, mark);
  training.ComputeGradients(objective, mark);
  out->HostVector().clear();
  pending_ = {&training, out, predicted.data, objective, mark};
  return true;
}

void Booster::DoBoost(xgboost::DMatrix* data, xgboost::HostDeviceVector<xgboost::GradientPair>* gradients,
                      xgboost::PredictionCacheEntry* cache, xgboost::ObjFunction const* objective) {
  Pending const pending = std::exchange(pending_, {});
  if (!config_.Trains()) {
    ModelChanges();
    inner_->DoBoost(data, gradients, cache, objective);
    return;
  }
  HostSpan span{"boost"};
  AtBoundary("training", [&] {
    bool const on_device = pending.gradients == gradients && pending.data == data;
    Training& training = on_device ? *pending.training : Prepare(OwnerOf(data, *cache));
    Round round{};
    round.trainer = training.trainer.get();
    round.params =
        ToTrainParams(config_.tree(), config_.device(), static_cast<std::uint64_t>(ctx_->seed), config_.IsExact());
    round.params.feature_weights = FeatureWeights(data->Info());
    round.iteration = Rounds();
    round.changes_leaves = objective != nullptr && objective->Task().UpdateTreeLeaf();
    if (round.changes_leaves) CheckAdaptiveLeaves(round.params, data->Info());
    round.adapts_leaves = round.changes_leaves && IsAbsoluteError(*objective);
    changed_on_host_ = round.changes_leaves && !on_device;
    if (changed_on_host_) round.margins = NeedMargins(data, cache);
    round.keeps_trees = OwnsRounds() && !changed_on_host_ && training.EvaluatesOnDevice();
    std::optional<std::uint32_t> const columns_of = BeginDartRound(&training, data, *cache, &round);
    // dart computes all predictions anew, so what it has cached never counts.
    round.cache_is_current = kind_ == Kind::kGBTree && cache->version == round.iteration;
    if (trace_ != nullptr) trace_->Write();
    training.BeginRound(round.iteration, round.keeps_trees);
    RoundScope scope{&round};
    if (on_device) {
      round.rows = training.own.rows.get();
      RoundPlan plan{pending.objective, pending.targets, round.params};
      // A plan that has served two rounds will serve the next: what is set anew in each round is not started ahead.
      bool const lasting = kind_ == Kind::kGBTree && training.last_plan &&
                           training.last_plan->SameGradients(plan.objective, plan.targets) &&
                           training.last_plan->params == plan.params;
      training.last_plan = std::move(plan);
      if (lasting && config_.device().gpu_trace.empty()) {
        round.look_ahead = [&](TrainParams const& params, std::size_t trees_per_output) {
          training.LookAhead(training.last_plan->objective, params, round.iteration + 1, trees_per_output);
        };
      }
      StandIn stand_in{round.rows->outputs()};
      inner_->DoBoost(stand_in.data(), stand_in.gradients(), stand_in.cache(), objective);
      training.own.rounds = Rounds();
      training.own.of_forest = round.trees > round.rows->outputs();
    } else {
      training.last_plan.reset();
      std::uint64_t const rows = data->Info().num_row_;
      if (gradients->Size() > rows) CheckFinite(View(*gradients), gradients->Size() / rows);
      CacheGuard guard{cache};
      inner_->DoBoost(data, gradients, cache, objective);
      guard.RoundIsComplete();
    }
    if (on_device || kind_ == Kind::kDart) Clear(cache);  // what it holds is a round behind
    training.EndRound(Rounds(), round.keeps_trees);
    if (kind_ == Kind::kDart) EndDartRound(&training, columns_of);
  });
}

Span<float const> Booster::NeedMargins(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* cache) {
  DropOlderMargins(*data, cache, true);
  bool const are_missing = cache->predictions.Size() == 0 && data->Info().num_row_ != 0;
  // What dart has cached is without the trees that it dropped, and has no version.
  if (are_missing || (kind_ != Kind::kDart && cache->version != Rounds())) PredictBatch(data, cache, false, 0, 0);
  return cache->predictions.ConstHostVector();
}

bool Booster::IsCurrent(Resident const& resident) const {
  // Without a round XGBoost takes margins from its matrix anew each time: they may have been set.
  return resident.rows != nullptr && resident.rounds == Rounds() && Rounds() > 0;
}

Booster::Predicted& Booster::LastPrediction() {
  static thread_local Predicted last{};
  return last;
}

Booster* Booster::WhichPredicted(xgboost::HostDeviceVector<float> const& margins,
                                 xgboost::GenericParameter const* ctx) {
  return LastPrediction().margins == &margins ? WhichPredictedLast(ctx) : nullptr;
}

Booster* Booster::WhichPredictedLast(xgboost::GenericParameter const* ctx) {
  auto const by = LastPrediction().by.lock();
  return by != nullptr && (*by)->ctx_ == ctx ? *by : nullptr;
}

void Booster::FillMargins() {
  Predicted const& last = LastPrediction();
  if (kind_ == Kind::kDart) {
    if (last.resident != nullptr) CopyMargins(*last.resident, last.cache);
    return;
  }
  if (Training* const training = trainers_.FindMargins(last.data, Rounds())) CopyMargins(training->own, last.cache);
}

void Booster::CopyMargins(Resident const& resident, xgboost::PredictionCacheEntry* out) {
  std::lock_guard<std::mutex> lock{margins_mutex_};
  auto& margins = out->predictions.HostVector();
  std::size_t const size = resident.rows->rows() * resident.rows->outputs();
  if (kind_ == Kind::kGBTree && out->version == resident.rounds && margins.size() == size) return;
  out->version = 0;
  margins.resize(size);
  resident.rows->CopyMargins(margins);
  // A dart has its last round there, as stock code: its cached margins never count.
  out->version = kind_ == Kind::kGBTree ? *resident.rounds : *resident.rounds - 1;
}

bool Booster::ServeMargins(xgboost::DMatrix const* data, xgboost::PredictionCacheEntry* out) {
  Training* const training = trainers_.FindMargins(data, Rounds());
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
  if (call == ApiCall::kEvaluate && knows_objective_) {
    LastPrediction().resident = &training->own;
    return true;
  }
  if (call == ApiCall::kUpdate && !must_fill_.exchange(false)) return true;
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

bool Booster::ServeEvaluation(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out) {
  Training* const training = trainers_.Newest();
  bool const evaluates = CurrentApiCall() == ApiCall::kEvaluate;
  // A matrix of training whose margins are not resident (own objectives) has them in XGBoost's cache.
  if (training == nullptr || Rounds() == 0 || changed_on_host_ || trainers_.TrainingOf(data) != nullptr) return false;
  Resident* resident = nullptr;
  {
    std::lock_guard<std::mutex> lock{margins_mutex_};
    resident = training->Advance(data, Rounds());
  }
  if (resident != nullptr && evaluates && knows_objective_) {
    Clear(out);
    LastPrediction().resident = resident;
    return true;
  }
  if (resident != nullptr) {
    CopyMargins(*resident, out);
    return true;
  }
  if (!evaluates) return false;
  PredictAnew(data, out, false, 0, 0);
  auto const kept = binned_values_.Find(data);
  xgboost::DMatrix* const values = IsBinned(*data) ? kept.get() : data;
  if (values == nullptr) return true;  // its rows are not to be had
  if (training->Admit(OwnerOf(data, *out), values, out->predictions.ConstHostVector(), Rounds())) {
    binned_values_.Drop(data);
  }
  return true;
}

void Booster::PredictBatch(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training,
                           unsigned layer_begin, unsigned layer_end) {
  CheckOutputs();
  HostSpan span{training ? "margins" : "predict"};
  if (TraceFile::AnyOpen()) {
    SetThreadTrace(trace_);
    if (training && trace_ != nullptr) trace_->SetRound(Rounds());
  }
  trainers_.DropExpired();
  binned_values_.DropExpired();
  time_orders_.DropExpired();
  LastPrediction() = {self_, data, out, &out->predictions, nullptr, nullptr, {}, training};
  DropOlderMargins(*data, out, training);
  if (kind_ == Kind::kDart) {
    PredictDart(data, out, training, layer_begin, layer_end);
    return;
  }
  bool const all_rounds = layer_begin == 0 && (layer_end == 0 || layer_end == Rounds());
  bool const served = all_rounds && OwnsRounds() &&
                      AtBoundary("predicting", [&] { return ServeMargins(data, out) || ServeEvaluation(data, out); });
  if (!served) PredictAnew(data, out, training, layer_begin, layer_end);
}

bool Booster::BeginEvaluation(std::optional<ObjectiveParams> const& objective,
                              xgboost::HostDeviceVector<float>* predictions) {
  Predicted& last = LastPrediction();
  knows_objective_ = true;
  if (!OwnsRounds()) return false;
  if (objective && last.resident != nullptr) {
    last.evaluated = predictions;
    last.objective = *objective;
    return true;
  }
  if (last.resident != nullptr) Bring(predictions);
  if (!objective) return false;
  std::uint64_t const rows = last.data->Info().num_row_;  // NOLINT(clang-analyzer-*): as above
  auto& values = predictions->HostVector();
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
  CopyMargins(*last.resident, last.cache);  // NOLINT(clang-analyzer-*): as above
  predictions->HostVector() = last.cache->predictions.ConstHostVector();
  last.resident = nullptr;
}

std::optional<double> Booster::Evaluate(MetricParams const& metric, xgboost::HostDeviceVector<float> const& predictions,
                                        xgboost::MetaInfo const& info) {
  Predicted& last = LastPrediction();
  if (last.evaluated != &predictions || &last.data->Info() != &info || XGCommunicatorGetWorldSize() > 1) return {};
  std::uint64_t const rows = info.num_row_;
  auto const outputs =
      static_cast<std::uint32_t>(last.resident ? last.resident->rows->outputs() : predictions.Size() / rows);
  if (!LabelsFit(metric, info, outputs)) return {};
  TargetView targets = ViewTargets(info);
  if (last.resident == nullptr) {
    double value = 0;
    HostStage(kMetric, [&] {
      std::shared_ptr<host::SortedTimes const> times;
      if (metric.kind == Metric::kCoxNloglik) {
        auto const mark = TargetMark::Of(targets, rows, Objective::kCox, ctx_->Threads());
        times = time_orders_.Get(OwnerOf(last.data, *last.cache), targets, mark);
        targets.by_time = times->view();
      }
      value = host::Evaluate(metric, targets, RowMajor(predictions.ConstHostVector().data(), rows, outputs),
                             ctx_->Threads());
    });
    return value;
  }
  try {
    last.resident->SetTargets(targets, TargetMark::Of(targets, rows, last.objective.kind, ctx_->Threads()));
    return last.resident->rows->Evaluate(last.objective, metric);
  } catch (OutOfDeviceMemory const&) {
    FillPredictions(predictions);  // the host has room
    return Evaluate(metric, predictions, info);
  }
}

void Booster::FillPredictions(xgboost::HostDeviceVector<float> const& predictions) {
  Predicted& last = LastPrediction();
  if (last.evaluated != &predictions || last.resident == nullptr) return;
  Bring(last.evaluated);
  BeginEvaluation(last.objective, last.evaluated);
}

}  // namespace xgbgpu::plugin
