/// Contributions of features to predictions, by the engine: faster than stock code, and exact for deep trees.
#ifndef XGBGPU_PLUGIN_EXPLANATION_H_
#define XGBGPU_PLUGIN_EXPLANATION_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>
#include <xgboost/learner.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "predict/contributions.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// One booster's trees as paths. Where it does not go, stock code does; values differ from stock's by rounding only.
class Explanation {
 public:
  explicit Explanation(xgboost::LearnerModelParam const* model) : model_{model} {}

  /// Whether a device is worth the way for a model of so many rounds.
  static bool IsForDevice(xgboost::DMatrix const& data, std::uint32_t rounds);

  /// What GradientBooster::PredictContribution promises, without a condition, for the first `layers` of the model's
  /// `rounds` rounds (0, or more than there are: all). False, and `out` is as before, if stock code has to do it: few
  /// rows, no raw values, or what it has words for. May be called by several threads.
  bool Predict(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, xgboost::DMatrix* data, Place place,
               int threads, std::uint32_t layers, bool approximate, xgboost::HostDeviceVector<float>* out);

  /// Whether a device is worth the way for interactions.
  static bool AreInteractionsForDevice(xgboost::DMatrix const& data, std::uint32_t rounds);

  /// The same for GradientBooster::PredictInteractionContributions, exact ones.
  bool PredictInteractions(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, xgboost::DMatrix* data,
                           Place place, int threads, std::uint32_t layers, xgboost::HostDeviceVector<float>* out);

  /// The model was changed.
  void Forget();

 private:
  /// Nothing if stock code has to do it: no raw values, or what it has words for.
  std::shared_ptr<PathForest const> PathsFor(xgboost::GradientBooster const& gbtree, std::uint32_t rounds,
                                             xgboost::DMatrix const& data);
  std::shared_ptr<PathForest const> Paths(xgboost::GradientBooster const& gbtree, std::uint32_t rounds);

  xgboost::LearnerModelParam const* model_;
  std::mutex mutex_;
  std::shared_ptr<PathForest const> paths_;
  std::uint32_t rounds_{0};  ///< of the model in paths_
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_EXPLANATION_H_
