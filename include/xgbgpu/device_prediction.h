/// Large predictions on devices, from rows and trees that the host has.
#ifndef XGBGPU_DEVICE_PREDICTION_H_
#define XGBGPU_DEVICE_PREDICTION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/prediction_policy.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// One model on a device, or on several, to which rows are dealt where there are many: every row is predicted by itself,
/// so the bits are those of one. A shortcut only: where it does not go, the host does, with the same bits. If several
/// devices cannot, one does it. May be used by several threads.
class XGBGPU_API DevicePrediction {
 public:
  /// rounds_leaves: each leaf is rounded to what it adds to the base score, as in-place predictions of a dart do.
  /// policy: other than the default for tests.
  explicit DevicePrediction(Warn warn, bool rounds_leaves = false, PredictionPolicy const& policy = kPredictionPolicy);

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
  ~DevicePrediction();
  DevicePrediction(DevicePrediction const&) = delete;
  DevicePrediction& operator=(DevicePrediction const&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_DEVICE_PREDICTION_H_
