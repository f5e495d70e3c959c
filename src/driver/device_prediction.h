/// Large predictions on a device, from rows and trees that the host has.
#ifndef XGBGPU_DRIVER_DEVICE_PREDICTION_H_
#define XGBGPU_DRIVER_DEVICE_PREDICTION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/base_margins.h"
#include "driver/model_view.h"
#include "predict/predictor.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// One model on a device. A shortcut only: where it does not go, the host does, with the same bits. May be used by
/// several threads.
class DevicePrediction {
 public:
  /// rounds_leaves: each leaf is rounded to what it adds to the base score, as in-place predictions of a dart do.
  explicit DevicePrediction(Warn warn, bool rounds_leaves = false)
      : warn_{std::move(warn)}, rounds_leaves_{rounds_leaves} {}

  /// Whether a device is worth the way for `rows` rows and `rounds` of the model's rounds. Asks for no device.
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, std::uint32_t rounds);

  // Each: false if the host has to do it, since there is little to do, the rounds are not there, or the device fails.

  /// margins [rows × outputs], row-major, become those that the rows begin with, `base`, and the trees of the rounds
  /// on top; without `base`, the trees are added to the margins that are there. If false, they are as before or empty.
  bool PredictMargins(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);
  /// leaves [rows × trees of the rounds] become the numbers of leaves; if false, they are as before.
  bool PredictLeaves(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                     std::vector<float>* leaves);

  /// The model was changed, and is to be read again.
  void Forget();

 private:
  /// Is this work for a device, which has the model or has to read it?
  bool IsWork(ModelView const& model, std::uint64_t rows, std::uint32_t rounds, bool has_model) const;
  bool HasModel(ModelView const& model, int device) const;
  /// Reads the model, if it is another.
  bool TakeModel(ModelView const& model, WorkPlace where);
  /// predict(trees of a round), once the model is on its device and the rounds are in it.
  template <typename F>
  bool OnDevice(ModelView const& model, WorkPlace where, std::uint64_t rows, RoundRange rounds, F&& predict);

  Warn warn_;
  bool rounds_leaves_;
  std::mutex mutex_;
  std::unique_ptr<DevicePredictor> predictor_;
  std::uint32_t rounds_{0};  ///< of the model in predictor_
  int device_{0};
  float base_{0};                              ///< that leaves were rounded to
  std::atomic<std::uint64_t> turned_away_{0};  ///< rows × rounds × outputs, since the model was read
  bool impossible_{false};                     ///< the model, or the device, is not for this
};

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_DEVICE_PREDICTION_H_
