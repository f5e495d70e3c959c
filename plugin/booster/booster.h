/// The booster: what gpu_hist does in the place of a stock gbtree or dart.
#ifndef XGBGPU_PLUGIN_BOOSTER_BOOSTER_H_
#define XGBGPU_PLUGIN_BOOSTER_BOOSTER_H_

#include <xgboost/gbm.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/stage_timer.h"
#include "booster/stock_dart.h"
#include "group/process_group.h"
#include "matrix/binned_values.h"
#include "models/model_check.h"
#include "params/booster_config.h"
#include "xgb/api_call.h"
#include "xgb/types.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/dart.h"
#include "xgbgpu/device_prediction.h"
#include "xgbgpu/explanation.h"
#include "xgbgpu/host_prediction.h"
#include "xgbgpu/margin_bases.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/time_orders.h"
#include "xgbgpu/trainer_pool.h"

namespace xgbgpu::plugin {

/// Stands between XGBoost, which calls it through a DecoratedBooster (entry/decorated_booster.h), and the stock booster.
/// It translates: parameters on their way in (Configure, LoadConfig) and back (SaveConfig); matrices, caches and
/// gradients into what the engine's rounds are made of (PredictBatch, ComputeGradients, DoBoost); and it knows when
/// XGBoost's vectors must be filled, because somebody may look at them (docs/adr/0008-rounds-on-the-device.md).
class Booster {
 public:
  enum class Kind { kGBTree, kDart };

  /// `stock`, `model` and `ctx` must outlive it.
  Booster(Kind kind, xgboost::GradientBooster* stock, xgboost::LearnerModelParam const* model, XgbContext const* ctx);

  // These do what GradientBooster's functions of the same names promise.

  void Configure(xgboost::Args const& args);
  void LoadConfig(xgboost::Json const& in);
  void SaveConfig(xgboost::Json* out) const;
  /// If it throws, the booster is as before the call.
  void DoBoost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache, xgboost::ObjFunction const* objective);
  void PredictBatch(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds);

  // So do these, but they return false if the stock booster has to do it. Rounds 0, 0 mean all rounds.

  bool InplacePredict(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds) const;
  bool PredictLeaf(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds);
  bool PredictContribution(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate);
  bool PredictInteractions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate);

  /// predict() is XGBoost's own, with `values` numbers for each row and output. Where we are in charge a failed
  /// allocation, of which XGBoost says nothing, becomes an error that says how much it needs.
  void ByStock(std::uint64_t rows, std::uint64_t values, std::function<void()> const& predict) const;

  /// Must be called before the stock booster loads a model, saved as `in`, or, if `in` is null, in the deprecated
  /// binary format, which is not checked. Throws if `in` is damaged; then nothing has changed.
  void ModelComes(xgboost::Json const* in);
  /// Throws if a slice of the rounds from `begin` to `end` (0: all) would lose one: stock code has end - begin by `step`,
  /// rounded down.
  void CheckSlice(std::int32_t begin, std::int32_t end, std::int32_t step) const;
  /// Throws if a model that was loaded is not one of this learner's outputs.
  void CheckOutputs() const;
  /// Must be called before the stock booster gets another model: nothing that we have made of the old one is true any
  /// more, nor what XGBoost has cached of it.
  void ModelIsReplaced() {
    ModelChanges();
    bases_.Forget();
  }

  ~Booster();
  Booster(Booster const&) = delete;
  Booster& operator=(Booster const&) = delete;

  /// True if trees of the learner with this context are grown by our updater.
  static bool TrainsFor(XgbContext const* ctx);

  /// The booster of the learner with this context, if it predicted into `margins` last on this thread; or null.
  static Booster* WhichPredicted(xgboost::HostDeviceVector<float> const& margins, XgbContext const* ctx);
  /// Gradients of the margins predicted last, kept where the margins are: `out` is filled on the host (the host
  /// backend, mixed updaters), emptied else. False if stock code has to do it: other methods, or labels that
  /// XGBoost has something to say about.
  bool ComputeGradients(ObjectiveParams objective, xgboost::MetaInfo const& info, XgbGradients* out);
  /// Brings the margins predicted last to the host, if they are not there.
  void FillMargins();

  /// The booster of the learner with this context, if it predicted last on this thread; or null. Objective, metrics and
  /// booster of a learner have one context; those of a learner with another kind of booster must not meet ours.
  static Booster* WhichPredictedLast(XgbContext const* ctx);
  /// The margins predicted last, of which `predictions` is a copy, become what metrics are given, where they are: on a
  /// device they stay there and `predictions` is left empty. False if stock code has to do it; then they are here.
  bool BeginEvaluation(std::optional<ObjectiveParams> const& objective, xgboost::HostDeviceVector<float>* predictions);
  /// The metric of what BeginEvaluation made last; nothing if stock code has to compute it.
  std::optional<double> Evaluate(MetricParams const& metric, xgboost::HostDeviceVector<float> const& predictions,
                                 xgboost::MetaInfo const& info);
  /// Brings the predictions that BeginEvaluation has seen to the host, if they are not there.
  void FillPredictions(xgboost::HostDeviceVector<float> const& predictions);

 private:
  /// The part of a saved configuration that describes the gbtree.
  xgboost::Json& GBTreeSection(xgboost::Json* config) const;

  std::uint32_t Rounds() const { return static_cast<std::uint32_t>(stock_->BoostedRounds()); }
  /// The model as it is now.
  ModelView Model() const;
  /// The trees that a round has for each output (num_parallel_tree).
  std::int64_t TreesPerOutput() const;
  /// Trees are grown by our updater and margins are sums of their leaves: nothing that stock code has to see.
  bool OwnsRounds() const { return config_.Trains() && config_.Sequence() == kUpdater; }
  /// The model is changed by others than us: nothing that we have made of it is true any more.
  void ModelChanges();
  /// Forgets cached margins that began with anything but what the model begins with now.
  void DropOlderMargins(xgboost::DMatrix* data, XgbCache* out, bool training);
  /// Predicts without rows that are kept: by the engine, on a device or the host, if that is worth the way.
  void PredictAnew(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds);
  /// Does the work of InplacePredict; false if the host has to do it.
  bool PredictArrays(InPlaceArrays const& arrays, xgboost::DMatrix const& data, float missing, XgbCache* out,
                     RoundRange rounds) const;
  /// Throws InvalidArgument unless the model has these rounds. Stock methods have their own words and results, but a
  /// stock dart would read on behind its last round.
  void CheckRounds(RoundRange rounds) const;
  /// Does what CheckRounds does, for a `result` that only rounds from the first on have: a stock dart would give that of
  /// all rounds up to the last. The range may end behind the last round, which SHAP counts in trees.
  void CheckFirstRounds(RoundRange rounds, char const* result) const;
  /// Throws Unsupported if `what`, which stock code does for us by rows, is asked of data that hold bins alone.
  void CheckHasValues(xgboost::DMatrix const& data, char const* what) const;
  /// Calls predict(rows, rounds, base, margins) for the rounds that XGBoost's cache does not have yet: PredictMargins
  /// of one of the engine's predictions. False if stock code has to do it.
  template <typename Predict>
  bool PredictByEngine(ModelView const& model, xgboost::DMatrix* data, RoundRange rounds, XgbCache* out,
                       Predict&& predict);
  /// Is the engine to predict these rounds on the host, if the trees are what it is faster for?
  bool WorthTheEngine(ModelView const& model, std::uint64_t rows, RoundRange rounds) const;
  /// Where large predictions are made: a worker of a process group has one device, on which it has trained, if it has.
  Place PlaceOfPredictions() const;
  /// The device, if there is one and it is worth the way for so many rows and these rounds (last 0: to the end).
  std::optional<WorkPlace> WorthADevice(DevicePrediction* prediction, ModelView const& model, std::uint64_t rows,
                                        RoundRange rounds) const;
  /// True if `data` are a QuantileDMatrix whose values are what its bins say. One that holds its own values gives these
  /// to our methods; stock's predict from bins, as without this library.
  bool ReadsBins(xgboost::DMatrix const& data) const;
  /// True if contributions of `data` are for the engine.
  bool Explains(xgboost::DMatrix* data, RoundRange rounds) const;
  /// The values of a QuantileDMatrix, where it holds them or having them saves time (a model that goes to a device
  /// needs them); else null, and `data` themselves are to be predicted from.
  std::shared_ptr<xgboost::DMatrix> ToPredictFrom(xgboost::DMatrix* data, XgbCache const& out, bool for_device);
  /// Returns a DMatrix that makes pages of the values that `data` holds, as they are read, so that XGBoost need not
  /// make its own to keep; null if `data` holds none, or are likely to be read again.
  std::shared_ptr<xgboost::DMatrix> InsteadOfPage(xgboost::DMatrix* data) const;
  /// The training on `data`, once everything about the round has been checked. `step` says for which part of the round.
  Training& Prepare(std::shared_ptr<xgboost::DMatrix> const& data, std::string const& step);
  /// What a round is asked to do.
  struct RoundPlan {
    RoundOrder order;
    HostRound::Residuals residuals;  ///< of leaves that change on the host
  };
  /// Throws if parameters, gradients or leaves do not allow the round, in a group on all workers.
  RoundPlan PlanRound(xgboost::DMatrix* data, XgbGradients const& gradients, XgbCache* cache,
                      xgboost::ObjFunction const* objective, bool on_device);
  /// Has stock code make the round's trees, which asks our updater for each. `on_device` is the training if gradients
  /// are on a device, where stock code must not look for them; else null.
  void BoostByStock(BoostingRound* round, Training const* on_device, xgboost::DMatrix* data, XgbGradients* gradients,
                    XgbCache* cache, xgboost::ObjFunction const* objective);
  /// Margins on the host, for an objective that sets leaves from them. Nobody may have asked for them before the round.
  Span<float const> NeedMargins(xgboost::DMatrix* data, XgbCache* cache);
  /// Has gpu_trace, as it is set now, told of what this trainer does.
  void Trace(Trainer* trainer);
  /// work() is a stage that the host does for a round.
  template <typename F>
  void HostStage(char const* stage, F&& work) const {
    HostStageTimer timer;
    timer.SetFile(trace_.get());
    timer.Run(stage, kNoLevel, work);
  }
  /// The margins of `kept` are those of the model.
  bool IsCurrent(KeptRows const& kept) const;
  /// Returns true before the first round if all margins of `data` are the base score, and the objective asks for those
  /// that it needs: `out` is left empty then, and LastPrediction says why.
  bool LeaveBase(xgboost::DMatrix const* data, XgbCache const* out) const;
  /// Returns true if the margins of `data` after all rounds are on a device, and brings them to `out` if somebody may
  /// look there.
  bool ServeMargins(xgboost::DMatrix* data, XgbCache* out);
  /// Does what ServeMargins does, for a matrix that is evaluated.
  bool ServeEvaluation(xgboost::DMatrix* data, XgbCache* out);
  void CopyMargins(KeptRows const& kept, XgbCache* out);

  // The rest is for a dart (booster_dart.cc), where the margins of kept rows are weighed leaf columns.

  /// PredictBatch of a dart.
  void PredictDart(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds);
  /// Predicts all rounds, if `training` without the trees that were drawn last. Returns false if stock code has to.
  bool ServeDart(xgboost::DMatrix* data, XgbCache* out, bool training);
  /// Returns the rows whose columns serve predictions of `data`, and may have none yet; or null.
  KeptRows* DartRows(xgboost::DMatrix* data, XgbCache const& out);
  /// How the model's trees are arranged.
  DartShape Shape();
  /// What records columns for the rows `kept` of `data`.
  RecordColumns RecorderOf(xgboost::DMatrix* data, XgbCache const& out, DartShape const& model, KeptRows const& kept);
  /// Must be called when a dart's round is in the model. `columns_of` is the round whose leaf columns were reserved.
  void EndDartRound(Training* training, std::optional<std::uint32_t> columns_of);
  /// Completes the leaf columns of the training's own rows; true if they are complete then.
  bool HasColumns(Training* training, xgboost::DMatrix* data, XgbCache const& cache);

  // The rest is for workers of a process group (booster_group.cc), which make these calls at the same time.

  /// Returns where a worker trains, once all agree on parameters and data.
  Place AgreeOnRound(ProcessGroup* group, xgboost::DMatrix* data, std::string const& step);
  /// ComputeGradients, for the rows of this worker.
  bool ComputeGradientsInGroup(ProcessGroup* group, Training* training, ObjectiveParams const& objective,
                               xgboost::MetaInfo const& info, XgbGradients* out);
  /// Evaluate, for the rows of all workers.
  std::optional<double> EvaluateInGroup(ProcessGroup* group, MetricParams const& metric,
                                        xgboost::HostDeviceVector<float> const& predictions,
                                        xgboost::MetaInfo const& info);

  void Bring(xgboost::HostDeviceVector<float>* predictions);

  /// The last PredictBatch on this thread.
  struct Predicted {
    std::weak_ptr<Booster*> by;
    xgboost::DMatrix* data;
    XgbCache* cache;
    xgboost::HostDeviceVector<float> const* margins;  ///< of `cache`, to compare with only
    KeptRows* kept;                                   ///< what is to be evaluated, if it is on a device
    xgboost::HostDeviceVector<float>* evaluated;      ///< XGBoost's vector for it, once BeginEvaluation has seen it
    ObjectiveParams objective;                        ///< of `evaluated`
    bool training;                                    ///< true: a dart has left out the trees drawn last
    bool left_base;                                   ///< all margins are the base score, and `cache` is empty
  };
  static Predicted& LastPrediction();

  /// Gradients that are on a device, for the DoBoost that follows.
  struct Pending {
    Training* training{nullptr};
    XgbGradients const* gradients{nullptr};  ///< XGBoost's vector, left empty
    xgboost::DMatrix const* data{nullptr};
    ObjectiveParams objective{};
    TargetMark targets{};
  };

  Kind kind_;
  xgboost::GradientBooster* stock_;
  xgboost::LearnerModelParam const* model_;
  XgbContext const* ctx_;
  StockDart stock_dart_;  ///< is asked nothing if this is no dart
  DartWeights dart_;      ///< is asked nothing if this is no dart
  LoadedModel loaded_;
  BoosterConfig config_;
  std::string base_score_;  ///< the text that was set last; empty if none was
  bool configure_failed_{false};
  std::vector<Fact> params_;  ///< that workers must have in common; empty: parameters may have changed
  TrainerPool trainers_;
  mutable HostPrediction on_host_;
  mutable DevicePrediction on_device_;
  mutable DevicePrediction dart_in_place_;
  Explanation explanation_;
  TimeOrders time_orders_;
  MarginBases bases_;
  BinnedValues binned_values_;  ///< of QuantileDMatrices that are evaluated and have no rows on a device
  std::shared_ptr<Booster*> self_{std::make_shared<Booster*>(this)};  ///< tells LastPrediction when we are gone
  Pending pending_;
  std::optional<int> group_device_;   ///< on which this worker of a process group trained last
  std::shared_ptr<TraceFile> trace_;  ///< of gpu_trace, once a round has begun
  bool changed_on_host_{false};       ///< the leaves of the last round were changed after growth: no tree was kept
  std::mutex margins_mutex_;          ///< predictions may run at the same time
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_BOOSTER_H_
