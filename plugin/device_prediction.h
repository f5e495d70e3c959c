/// Large predictions on a device, from the rows and the trees that XGBoost has on the host.
#ifndef XGBGPU_PLUGIN_DEVICE_PREDICTION_H_
#define XGBGPU_PLUGIN_DEVICE_PREDICTION_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>
#include <xgboost/learner.h>
#include <xgboost/predictor.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "predict/predictor.h"

namespace xgbgpu::plugin {

/// One booster's model on a device. A shortcut only: where it does not go, stock code does, with the same bits.
class DevicePrediction {
 public:
  explicit DevicePrediction(xgboost::LearnerModelParam const* model) : model_{model} {}

  /// Whether a device is worth the way for all rounds of a model. Asks for no device.
  static bool IsWorthwhile(xgboost::DMatrix const& data, std::uint32_t rounds);

  /// What GradientBooster::PredictBatch promises, for the model of `gbtree` with `rounds` rounds. False, and `out` is
  /// as before or empty, if stock code has to predict: little to do, no raw values, categories, or a device that fails.
  /// May be called by several threads.
  bool Predict(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, xgboost::DMatrix* data, int device,
               int threads, std::uint32_t layer_begin, std::uint32_t layer_end, xgboost::PredictionCacheEntry* out);

  /// The model was changed.
  void Forget();

 private:
  bool HasModel(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, int device, int threads);

  xgboost::LearnerModelParam const* model_;
  std::mutex mutex_;
  std::unique_ptr<DevicePredictor> predictor_;
  std::uint32_t rounds_{0};  ///< of the model in predictor_
  int device_{0};
  bool impossible_{false};  ///< the model, or the device, is not for this
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DEVICE_PREDICTION_H_
