/// Large predictions on a device, from the rows and the trees that XGBoost has on the host.
#ifndef XGBGPU_PLUGIN_DEVICE_PREDICTION_H_
#define XGBGPU_PLUGIN_DEVICE_PREDICTION_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>
#include <xgboost/learner.h>
#include <xgboost/predictor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "predict/predictor.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::plugin {

/// A model as it is now, and where it is to predict.
struct ModelOnDevice {
  xgboost::GradientBooster const& booster;  ///< stock gbtree or dart
  std::uint32_t rounds;
  int device;
  int threads;
};

/// Rounds first … last - 1; last 0: to the end of the model.
struct Layers {
  std::uint32_t first;
  std::uint32_t last;
};

/// One booster's model on a device. A shortcut only: where it does not go, stock code does, with the same bits. May be
/// used by several threads.
class DevicePrediction {
 public:
  /// rounds_leaves: for in-place predictions of a dart, which rounds each leaf to what it adds to the base score.
  explicit DevicePrediction(xgboost::LearnerModelParam const* model, bool rounds_leaves = false)
      : model_{model}, rounds_leaves_{rounds_leaves} {}

  /// Whether a device is worth the way for `layers` of a model's rounds. Asks for no device.
  bool IsWorthwhile(std::uint64_t rows, std::uint32_t layers, std::uint32_t rounds);

  // Each: false, and `out` is as before or empty, if stock code has to do it: little to do, no raw values, rounds that
  // there are not, or a device that fails.

  /// What GradientBooster::PredictBatch promises: of gbtree only the rounds are added that `out` does not have yet.
  bool Predict(ModelOnDevice const& model, xgboost::DMatrix* data, Layers layers, bool is_dart,
               xgboost::PredictionCacheEntry* out);
  /// What GradientBooster::InplacePredict promises, for rows that `info` has base margins for. (Those a stock dart adds
  /// once for each tree: not here.)
  bool PredictInPlace(ModelOnDevice const& model, RowSource const& rows, xgboost::MetaInfo const& info, Layers layers,
                      std::vector<float>* out);
  /// What GradientBooster::PredictLeaf promises.
  bool PredictLeaf(ModelOnDevice const& model, xgboost::DMatrix* data, Layers layers, std::vector<float>* out);

  /// The model was changed.
  void Forget();

 private:
  /// Is this work for a device, which has the model or has to read `rounds` rounds?
  bool IsWork(std::uint64_t rows, std::uint32_t layers, std::uint32_t rounds, bool has_model) const;
  bool HasModel(std::uint32_t rounds, int device) const;
  /// Reads the model, if it is another.
  bool TakeModel(ModelOnDevice const& model);
  /// f(trees of a round), which says whether it predicted, once the model is on its device and the layers are in it.
  template <typename F>
  bool OnDevice(ModelOnDevice const& model, std::uint64_t rows, Layers layers, F&& f);

  float Base() const { return model_->BaseScore(xgboost::GenericParameter::kCpuId)(0); }

  xgboost::LearnerModelParam const* model_;
  bool rounds_leaves_;
  std::mutex mutex_;
  std::unique_ptr<DevicePredictor> predictor_;
  std::uint32_t rounds_{0};  ///< of the model in predictor_
  int device_{0};
  float base_{0};                              ///< that leaves were rounded to
  std::atomic<std::uint64_t> turned_away_{0};  ///< rows × rounds × outputs, since the model was read
  bool impossible_{false};                     ///< the model, or the device, is not for this
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DEVICE_PREDICTION_H_
