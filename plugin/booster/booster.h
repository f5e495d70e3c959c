/// The booster: what gpu_hist does in the place of a stock gbtree or dart.
#ifndef XGBGPU_PLUGIN_BOOSTER_BOOSTER_H_
#define XGBGPU_PLUGIN_BOOSTER_BOOSTER_H_

#include <xgboost/gbm.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "booster/booster_trace.h"
#include "booster/evaluation.h"
#include "booster/group_rounds.h"
#include "booster/learner_view.h"
#include "booster/margins.h"
#include "booster/prediction.h"
#include "booster/prediction_source.h"
#include "booster/rounds.h"
#include "booster/settings.h"
#include "models/model_check.h"
#include "xgb/listing.h"
#include "xgb/types.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/time_orders.h"
#include "xgbgpu/training_pool.h"

namespace xgbgpu::plugin {

/// Forwards each call of XGBoost's to the part of a booster that serves it. XGBoost calls it through a DecoratedBooster
/// (entry/decorated_booster.h), a DecoratedObjective and DecoratedMetrics. Rounds {0, 0} are all rounds.
class Booster {
 public:
  using Kind = BoosterKind;

  /// `stock`, `model` and `ctx` must outlive it.
  Booster(Kind kind, xgboost::GradientBooster* stock, xgboost::LearnerModelParam const* model, XgbContext const* ctx);
  Booster(Booster const&) = delete;
  Booster& operator=(Booster const&) = delete;

  // Functions of GradientBooster, with its contracts.

  void Configure(xgboost::Args const& args);
  void LoadConfig(xgboost::Json const& in);
  void SaveConfig(xgboost::Json* out) const;
  /// If it throws, the booster is as before the call.
  void DoBoost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache, xgboost::ObjFunction const* objective);
  void PredictBatch(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds);

  // Functions of GradientBooster that return false if the stock booster has to do the work.

  bool InplacePredict(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds) const;
  bool PredictLeaf(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds);
  bool PredictContribution(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate);
  bool PredictInteractions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate);

  /// Calls predict(), which is XGBoost's own: Prediction::PredictByStock.
  void PredictByStock(std::uint64_t rows, std::uint64_t values, std::function<void()> const& predict) const;
  /// Calls explain(matrix), which is XGBoost's own: Prediction::ExplainByStock.
  void ExplainByStock(xgboost::DMatrix* data, std::uint64_t values, StockCallOn const& explain) const;

  /// Must be called before the stock booster loads a model. `in` is the saved model; null: the deprecated binary
  /// format, which is not checked. Throws if the model is damaged; then nothing has changed.
  void BeginLoad(xgboost::Json const* in);
  /// Must be called before the booster `out` gets rounds of this one's model.
  void BeginSlice(Booster* out) const;
  /// Must be called when the stock booster `out` has the rounds.
  void EndSlice(xgboost::GradientBooster* out) const;
  /// Must be called before the stock booster gets another model in another way.
  void ForgetModel();
  /// Throws if a slice of the rounds from `begin` to `end` (0: all) would lose a round. Stock code takes
  /// (end - begin) / step rounds, rounded down.
  void CheckSlice(std::int32_t begin, std::int32_t end, std::int32_t step) const;
  /// Throws if the model that was loaded has other outputs or features than this learner.
  void CheckModel() const;

  /// True if our updater grows the trees of the learner with this context.
  static bool TrainsFor(XgbContext const* ctx);
  /// Calls visit for the parameters of the booster of the learner with this context; not at all if it has none of ours.
  static void VisitConfig(XgbContext const* ctx, std::function<void(BoosterConfig const&)> const& visit);
  /// Returns the booster of the learner with this context if it predicted last on this thread, else null. Objective,
  /// metrics and booster of a learner have one context; another learner must not get our predictions.
  static Booster* WhichPredictedLast(XgbContext const* ctx);
  /// Returns the same booster if its prediction went into `margins`, else null.
  static Booster* WhichPredicted(xgboost::HostDeviceVector<float> const& margins, XgbContext const* ctx);

  // Calls of the objective and the metrics, on the booster that predicted last on their thread.

  /// Rounds::ComputeGradients.
  bool ComputeGradients(ObjectiveParams const& objective, xgboost::MetaInfo const& info, XgbGradientMatrix* out,
                        PositionBiases* next_biases);
  /// Margins::FillLast.
  void FillMargins();
  /// Evaluation::Begin.
  bool BeginEvaluation(std::optional<ObjectiveParams> const& objective, xgboost::HostDeviceVector<float>* predictions);
  /// Evaluation::Evaluate.
  std::optional<double> Evaluate(MetricParams const& metric, xgboost::HostDeviceVector<float> const& predictions,
                                 xgboost::MetaInfo const& info);
  /// Evaluation::FillPredictions.
  void FillPredictions(xgboost::HostDeviceVector<float> const& predictions);

 private:
  void SetDropsTrees(bool drops);

  LearnerView learner_;
  LoadedModel loaded_;
  Settings settings_;
  TrainingPool trainings_;
  TimeOrders time_orders_;
  BoosterTrace trace_;
  PredictionSource source_;
  Prediction prediction_;
  std::shared_ptr<Booster*> self_;  ///< tells a LastPrediction when this is gone
  std::unique_ptr<Margins> margins_;
  GroupRounds group_;
  Evaluation evaluation_;
  Rounds rounds_;
  Listing<Booster> listing_{this};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_BOOSTER_H_
