/// Large predictions on devices, from rows and trees that the host has.
#ifndef XGBGPU_PREDICTION_DEVICE_PREDICTION_H_
#define XGBGPU_PREDICTION_DEVICE_PREDICTION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "predict/predictor.h"
#include "prediction/model_view.h"
#include "prediction/prediction_policy.h"
#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/error.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// One model on a device, or on several, to which rows are dealt where there are many: every row is predicted by itself,
/// so the bits are those of one. A shortcut only: where it does not go, the host does, with the same bits. If several
/// devices cannot, one does it. May be used by several threads.
class XGBGPU_API DevicePrediction {
 public:
  /// rounds_leaves: each leaf is rounded to what it adds to the base score, as in-place predictions of a dart do.
  /// policy: other than the default for tests.
  explicit DevicePrediction(Warn warn, bool rounds_leaves = false, PredictionPolicy const& policy = kPredictionPolicy)
      : warn_{std::move(warn)}, rounds_leaves_{rounds_leaves}, policy_{policy} {}

  /// Whether a device is worth the way for `rows` rows and `rounds` of the model's rounds. Asks for no device.
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, std::uint32_t rounds);

  // Each: false if the host has to do it, since there is little to do, the rounds are not there, or the device fails.
  // `where` may allow several devices. Rows that lie on a device are not dealt.

  /// margins [rows × outputs], row-major, become those that the rows begin with, `base`, and the trees of the rounds
  /// on top; without `base`, the trees are added to the margins that are there. If false, they are as before or empty.
  bool PredictMargins(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);
  /// leaves [rows × trees of the rounds] become the numbers of leaves; if false, they are as before.
  bool PredictLeaves(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                     std::vector<float>* leaves);

  /// The model was changed, and is to be read again.
  void Forget();
  /// Returns the number of devices that have the model.
  int devices() const;

 private:
  /// Is this work for a device, which has the model or has to read it?
  bool IsWork(ModelView const& model, std::uint64_t rows, std::uint32_t rounds, bool has_model) const;
  bool HasModel(ModelView const& model, int device) const;
  /// Returns how many devices are worth while for the rows.
  int DevicesFor(WorkPlace where, RowSource const& rows, std::uint64_t work) const;
  /// Reads the model, if it is another or some of the devices do not have it.
  bool TakeModel(ModelView const& model, Place const& place, int devices);
  /// What several devices, or one, could not do is not asked of them again.
  void GiveUp(int devices, Error const& why);
  /// predict(devices, trees of a round), once the model is on so many devices and the rounds are in it. If they fail,
  /// fewer are tried unless predict has set *spoilt.
  template <typename F>
  bool OnDevices(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds, bool const* spoilt,
                 F&& predict);
  /// Has each of the devices read its part of the rows: predict(predictor, part, threads of the host).
  template <typename F>
  void Deal(int devices, RowSource const& rows, int threads, F&& predict);

  Warn warn_;
  bool rounds_leaves_;
  PredictionPolicy policy_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<DevicePredictor>> predictors_;  ///< of each device that has the model, in their order
  std::uint32_t rounds_{0};                                   ///< of the model in predictors_
  int device_{0};                                             ///< the first
  float base_{0};                                             ///< that leaves were rounded to
  std::atomic<std::uint64_t> turned_away_{0};                 ///< rows × rounds × outputs, since the model was read
  bool impossible_{false};                                    ///< the model, or the device, is not for this
  bool several_fail_{false};                                  ///< only one device can be used
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_DEVICE_PREDICTION_H_
