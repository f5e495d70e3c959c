/// Predictions of large data on CUDA devices.
#ifndef XGBGPU_DEVICE_PREDICTION_H_
#define XGBGPU_DEVICE_PREDICTION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Predicts with one model on a device, or on several devices that share the rows. Margins and leaves have the bits of
/// the host's predictions, for any number of devices. Calls return false where a device is no advantage or fails, and
/// the caller then predicts on the host. Several threads may use an object.
class XGBGPU_API DevicePrediction {
 public:
  class Impl;

  /// rounds_leaves: a leaf is rounded to (base + leaf) - base, with the base score, as in XGBoost's in-place
  /// predictions of a dart.
  explicit DevicePrediction(Warn warn, bool rounds_leaves = false);
  explicit DevicePrediction(std::unique_ptr<Impl> impl);
  ~DevicePrediction();
  DevicePrediction(DevicePrediction const&) = delete;
  DevicePrediction& operator=(DevicePrediction const&) = delete;

  /// Returns true if a device predicts `rows` rows with `rounds` of the model's rounds faster than the host. Adds up
  /// refused work, which counts for a device in later calls. Does not look for a device.
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, std::uint32_t rounds);
  /// Returns true if a device is worth making values from bins: rows of `columns` columns without missing values, and
  /// `rounds` rounds.
  static bool IsWorthMakingValues(std::uint32_t rounds, std::uint64_t columns);

  /// Predicts margins [rows, outputs], row-major: the base margins plus the trees of `rounds`. Without `base`, adds
  /// the trees to the given margins. `where` may name several devices; rows in the memory of a device stay there.
  /// Returns false if there is little to do, the model lacks the rounds, or the device fails: margins are then
  /// unchanged or empty.
  bool PredictMargins(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);
  /// Finds leaves [rows, trees of the rounds], by number. Returns false as PredictMargins; leaves are then unchanged.
  bool PredictLeaves(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                     std::vector<float>* leaves);

  /// Forgets the model, because it has changed. The next call reads it again.
  void Forget();
  /// Returns the number of devices that have the model.
  int devices() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_DEVICE_PREDICTION_H_
