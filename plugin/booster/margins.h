/// The margins of matrices, which may stay where a training keeps them.
#ifndef XGBGPU_PLUGIN_BOOSTER_MARGINS_H_
#define XGBGPU_PLUGIN_BOOSTER_MARGINS_H_

#include <xgboost/data.h>

#include <memory>
#include <mutex>
#include <vector>

#include "booster/booster_trace.h"
#include "booster/last_prediction.h"
#include "booster/learner_view.h"
#include "booster/prediction.h"
#include "booster/prediction_source.h"
#include "params/booster_config.h"
#include "xgb/types.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/margin_bases.h"
#include "xgbgpu/span.h"
#include "xgbgpu/training_pool.h"

namespace xgbgpu::plugin {

/// The parts of a booster that margins need. Every pointer must outlive the margins.
struct MarginParts {
  LearnerView const* learner;
  BoosterConfig const* config;
  TrainingPool* trainings;
  PredictionSource* source;
  Prediction* prediction;
  BoosterTrace const* trace;
};

/// Decides whether margins stay with the rows that a training keeps, or come to XGBoost's cache
/// (docs/adr/0008-rounds-on-the-device.md). A gbtree and a dart keep different rows. Several threads may predict at the
/// same time.
class Margins {
 public:
  virtual ~Margins() = default;
  Margins(Margins const&) = delete;
  Margins& operator=(Margins const&) = delete;

  /// Does what GradientBooster::PredictBatch promises, and notes the prediction as the thread's last. XGBoost's cache
  /// `out` may stay empty inside XGBoost's functions that update and evaluate.
  void Predict(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds);
  /// Brings the margins of the thread's last prediction to XGBoost's cache, unless they are there.
  void FillLast();
  /// Brings the margins of `kept` to XGBoost's cache.
  void Copy(KeptRows const& kept, XgbCache* out);
  /// Returns the margins of `data` before the coming round, on the host [rows, outputs].
  Span<float const> OnHost(xgboost::DMatrix* data, XgbCache* cache);

  /// Returns true if the training's own rows on a device have the margins of the last prediction. Prepares the margins
  /// for gradients.
  virtual bool ReadyOnDevice(Training* training, LastPrediction const& last) = 0;
  /// Must be called before a round that our updater grows. Completes `order` with what kept rows need of the new trees.
  /// `host_sets_leaves`: leaves change on the host after growth, so that the trees are not kept.
  virtual void BeginRound(Training* training, xgboost::DMatrix* data, XgbCache const& cache, bool host_sets_leaves,
                          RoundOrder* order);
  /// Must be called when that round is in the model.
  virtual void EndRound(Training* /*training*/) {}
  /// Returns what workers of a process group must have in common before a round, beside parameters.
  virtual std::vector<Fact> SharedFacts() const { return {}; }

  /// Must be called when trees of the model may have changed. Kept margins, and trees that predictions have read, are
  /// then out of date.
  virtual void ForgetTrees();
  /// Must be called before the stock booster gets another model. Margins in XGBoost's cache are then out of date, too.
  void ForgetModel();

 protected:
  /// `by` is the booster whose predictions these are.
  Margins(std::weak_ptr<Booster*> by, MarginParts const& parts) : by_{std::move(by)}, parts_{parts} {}

  /// Predicts from kept rows, or anew.
  virtual void PredictNow(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) = 0;
  /// Returns the kept rows that have the margins of the last prediction, or null.
  virtual KeptRows const* RowsOf(LastPrediction const& last) = 0;

  LearnerView const& learner() const { return *parts_.learner; }
  BoosterConfig const& config() const { return *parts_.config; }
  TrainingPool& trainings() const { return *parts_.trainings; }
  PredictionSource& source() const { return *parts_.source; }
  Prediction& prediction() const { return *parts_.prediction; }
  /// True if `rounds` are all rounds of the model.
  bool AreAll(RoundRange rounds) const {
    return rounds.first == 0 && (rounds.last == 0 || rounds.last == learner().rounds());
  }

  std::mutex mutex_;              ///< of what kept rows hold
  bool host_sets_leaves_{false};  ///< in the last round: no tree was kept

 private:
  void DropStale(xgboost::DMatrix* data, XgbCache* out, bool training);

  std::weak_ptr<Booster*> by_;
  MarginParts parts_;
  MarginBases bases_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_MARGINS_H_
