/// The booster: a stock gbtree or dart, with gpu_hist around it.
#ifndef XGBGPU_PLUGIN_BOOSTER_H_
#define XGBGPU_PLUGIN_BOOSTER_H_

#include <xgboost/gbm.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "binned_values.h"
#include "booster_config.h"
#include "cached_bases.h"
#include "core/trace.h"
#include "dart_weights.h"
#include "device_prediction.h"
#include "explanation.h"
#include "metric/metric.h"
#include "model_check.h"
#include "objective/objective.h"
#include "round.h"
#include "time_orders.h"
#include "trainer_pool.h"

namespace xgbgpu::plugin {

/// Decorates a stock booster. Ours are: parameters, translated on their way in (Configure, LoadConfig) and back
/// (SaveConfig); gradients and margins that stay on a device (PredictBatch, ComputeGradients, DoBoost;
/// docs/adr/0008-rounds-on-the-device.md, 0015-dart-rounds.md); DoBoost announces the round to our updater; Slice
/// unwraps. All else is passed on.
class Booster : public xgboost::GradientBooster {
 public:
  enum class Kind { kGBTree, kDart };

  Booster(Kind kind, std::unique_ptr<xgboost::GradientBooster> inner, xgboost::LearnerModelParam const* model,
          xgboost::GenericParameter const* ctx);

  void Configure(xgboost::Args const& args) override;
  void LoadConfig(xgboost::Json const& in) override;
  void SaveConfig(xgboost::Json* out) const override;

  /// If it throws, the booster is as before the call.
  void DoBoost(xgboost::DMatrix* data, xgboost::HostDeviceVector<xgboost::GradientPair>* gradients,
               xgboost::PredictionCacheEntry* cache, xgboost::ObjFunction const* objective) override;
  void PredictBatch(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training, unsigned layer_begin,
                    unsigned layer_end) override;
  void Slice(std::int32_t layer_begin, std::int32_t layer_end, std::int32_t step, xgboost::GradientBooster* out,
             bool* out_of_bound) const override;

  /// The booster of the learner with this context, if it predicted into `margins` last on this thread; or null.
  static Booster* WhichPredicted(xgboost::HostDeviceVector<float> const& margins, xgboost::GenericParameter const* ctx);
  /// Gradients of the margins predicted last, kept where the margins are: `out` is filled on the host (the host
  /// backend, mixed updaters), emptied else. False if stock code has to do it: other methods, or labels that
  /// XGBoost has something to say about.
  bool ComputeGradients(ObjectiveParams objective, xgboost::MetaInfo const& info,
                        xgboost::HostDeviceVector<xgboost::GradientPair>* out);
  /// Brings the margins predicted last to the host, if they are not there.
  void FillMargins();

  /// The booster of the learner with this context, if it predicted last on this thread; or null. Objective, metrics and
  /// booster of a learner have one context; those of a learner with another kind of booster must not meet ours.
  static Booster* WhichPredictedLast(xgboost::GenericParameter const* ctx);
  /// The margins predicted last, of which `predictions` is a copy, become what metrics are given, where they are: on a
  /// device they stay there and `predictions` is left empty. False if stock code has to do it; then they are here.
  bool BeginEvaluation(std::optional<ObjectiveParams> const& objective, xgboost::HostDeviceVector<float>* predictions);
  /// The metric of what BeginEvaluation made last; nothing if stock code has to compute it.
  std::optional<double> Evaluate(MetricParams const& metric, xgboost::HostDeviceVector<float> const& predictions,
                                 xgboost::MetaInfo const& info);
  /// Brings them to the host, if they are not there.
  void FillPredictions(xgboost::HostDeviceVector<float> const& predictions);

  void LoadModel(xgboost::Json const& in) override;
  void SaveModel(xgboost::Json* out) const override { inner_->SaveModel(out); }
  void Load(dmlc::Stream* in) override {
    loaded_.Forget();
    ModelIsReplaced();
    ObjectiveMayChange();
    inner_->Load(in);
  }
  void Save(dmlc::Stream* out) const override { inner_->Save(out); }
  std::int32_t BoostedRounds() const override {
    CheckOutputs();
    return inner_->BoostedRounds();
  }
  bool ModelFitted() const override { return inner_->ModelFitted(); }
  bool UseGPU() const override { return inner_->UseGPU(); }

  void InplacePredict(std::shared_ptr<xgboost::DMatrix> data, float missing, xgboost::PredictionCacheEntry* out,
                      std::uint32_t layer_begin, std::uint32_t layer_end) const override;
  void PredictInstance(xgboost::SparsePage::Inst const& row, std::vector<float>* out, unsigned layer_begin,
                       unsigned layer_end) override {
    CheckOutputs();
    inner_->PredictInstance(row, out, layer_begin, layer_end);
  }
  void PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                   unsigned layer_end) override;
  void PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                           unsigned layer_end, bool approximate, int condition, unsigned feature) override;
  void PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                                       unsigned layer_begin, unsigned layer_end, bool approximate) override;
  std::vector<std::string> DumpModel(xgboost::FeatureMap const& names, bool with_stats,
                                     std::string format) const override {
    return inner_->DumpModel(names, with_stats, std::move(format));
  }
  void FeatureScore(std::string const& importance, xgboost::common::Span<std::int32_t const> trees,
                    std::vector<xgboost::bst_feature_t>* features, std::vector<float>* scores) const override {
    inner_->FeatureScore(importance, trees, features, scores);
  }

 private:
  /// The part of a saved configuration that describes the gbtree.
  xgboost::Json& GBTreeSection(xgboost::Json* config) const;

  /// A model that was loaded is one of this learner's outputs.
  void CheckOutputs() const;
  std::uint32_t Rounds() const { return static_cast<std::uint32_t>(inner_->BoostedRounds()); }
  /// Trees are grown by our updater and margins are sums of their leaves: nothing that stock code has to see.
  bool OwnsRounds() const { return config_.Trains() && config_.Sequence() == kUpdater; }
  /// By others than us: nothing that we have made of it is true any more.
  void ModelChanges() {
    trainers_.ForgetMargins();
    on_device_.Forget();
    dart_in_place_.Forget();
    explanation_.Forget();
    dart_.Forget();
  }
  /// The same, and nothing that XGBoost has cached of it, either.
  void ModelIsReplaced() {
    ModelChanges();
    bases_.Forget();
  }
  /// Margins go on from what the model begins with now.
  void DropOlderMargins(xgboost::DMatrix const& data, xgboost::PredictionCacheEntry* out, bool training);
  /// Without resident rows: on a device if that is worth the way, else on the host.
  void PredictAnew(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training, unsigned layer_begin,
                   unsigned layer_end);
  /// The model on a device, if there is one and it is worth the way for so many rows and the rounds [begin, end); end
  /// 0: to the last.
  std::optional<ModelOnDevice> WorthADevice(DevicePrediction* prediction, std::uint64_t rows, std::uint32_t begin,
                                            std::uint32_t end) const;
  /// `data`, or where that is a QuantileDMatrix and it saves time (a model that goes to a device needs it), its values.
  std::shared_ptr<xgboost::DMatrix> ToPredictFrom(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& out,
                                                  bool for_device);
  void ObjectiveMayChange() {
    must_fill_ = true;
    knows_objective_ = false;
  }
  /// The trainer for `data`, once everything about the round has been checked.
  Training& Prepare(std::shared_ptr<xgboost::DMatrix> const& data);
  /// For an objective that sets leaves from margins on the host, which nobody may have asked for before the round.
  Span<float const> NeedMargins(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* cache);
  /// Has gpu_trace, as it is set now, told of what this trainer does.
  void Trace(Trainer* trainer);
  /// work() is a stage that the host does for a round.
  template <typename F>
  void HostStage(char const* stage, F&& work) const {
    HostStageTimer timer;
    timer.SetFile(trace_.get());
    timer.Run(stage, kNoLevel, work);
  }
  /// The margins of `resident` are those of the model.
  bool IsCurrent(Resident const& resident) const;
  /// True if the margins of `data` after all rounds are on a device; brings them to `out` if somebody may look there.
  bool ServeMargins(xgboost::DMatrix const* data, xgboost::PredictionCacheEntry* out);
  /// The same for a matrix that is evaluated.
  bool ServeEvaluation(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out);
  void CopyMargins(Resident const& resident, xgboost::PredictionCacheEntry* out);

  // Of a dart: booster_dart.cc, docs/adr/0015-dart-rounds.md. The margins of `resident` are weighed leaf columns.

  /// Stock's dart would read on behind its last tree.
  void CheckDartRounds(unsigned layer_end) const;
  /// PredictBatch.
  void PredictDart(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training, unsigned layer_begin,
                   unsigned layer_end);
  /// The prediction of all rounds; `training`: without the trees drawn last. False if stock code has to make it.
  bool ServeDart(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training);
  /// Whose columns serve predictions of `data`: may be without columns yet. Null: nobody's.
  Resident* DartRows(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& out);
  /// Every tree of the model has a column. False if there is no room, and then there are no columns.
  bool Complete(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& out, Resident* resident);
  /// Complete, for the rows of the training.
  bool HasColumns(Training* training, xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& cache);
  /// Has the round's trees become columns, if it can. Returns the rounds that have some before it.
  std::optional<std::uint32_t> BeginDartRound(Training* training, xgboost::DMatrix* data,
                                              xgboost::PredictionCacheEntry const& cache, Round* round);
  void EndDartRound(Training* training, std::optional<std::uint32_t> columns_of);

  void Bring(xgboost::HostDeviceVector<float>* predictions);

  /// The last PredictBatch on this thread.
  struct Predicted {
    std::weak_ptr<Booster*> by;
    xgboost::DMatrix* data;
    xgboost::PredictionCacheEntry* cache;
    xgboost::HostDeviceVector<float> const* margins;  ///< of `cache`, to compare with only
    Resident* resident;                               ///< what is to be evaluated, if it is on a device
    xgboost::HostDeviceVector<float>* evaluated;      ///< XGBoost's vector for it, once BeginEvaluation has seen it
    ObjectiveParams objective;                        ///< of `evaluated`
    bool training;                                    ///< a dart has left out the trees drawn last
  };
  static Predicted& LastPrediction();

  /// Gradients that are on a device, for the DoBoost that follows.
  struct Pending {
    Training* training{nullptr};
    xgboost::HostDeviceVector<xgboost::GradientPair> const* gradients{nullptr};  ///< XGBoost's vector, left empty
    xgboost::DMatrix const* data{nullptr};
    ObjectiveParams objective{};
    TargetMark targets{};
  };

  Kind kind_;
  xgboost::LearnerModelParam const* model_;
  std::unique_ptr<xgboost::GradientBooster> inner_;
  DartWeights dart_;  ///< of a dart
  LoadedModel loaded_;
  BoosterConfig config_;
  std::string base_score_;  ///< as it was set last, if it was
  bool configure_failed_{false};
  TrainerPool trainers_;
  mutable DevicePrediction on_device_;
  mutable DevicePrediction dart_in_place_;
  Explanation explanation_;
  TimeOrders time_orders_;
  CachedBases bases_;
  BinnedValues binned_values_;  ///< of QuantileDMatrices that are evaluated, but have no resident rows
  std::shared_ptr<Booster*> self_{std::make_shared<Booster*>(this)};  ///< tells LastPrediction when we are gone
  Pending pending_;
  std::shared_ptr<TraceFile> trace_;  ///< of gpu_trace, once a round has begun
  /// Another objective may be in force, and one that was registered after ours reads the host's margins unasked.
  std::atomic<bool> must_fill_{false};
  /// The objective in force is decorated: it has called since it may have changed. One that was registered after this
  /// library was loaded may be not, and would look for predictions on the host.
  std::atomic<bool> knows_objective_{false};
  bool changed_on_host_{false};  ///< leaves of the last round, after it was grown: no tree was kept
  std::mutex margins_mutex_;     ///< predictions may run at the same time
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_H_
