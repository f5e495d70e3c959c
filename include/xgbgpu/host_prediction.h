/// Predictions of symmetric trees on the host.
#ifndef XGBGPU_HOST_PREDICTION_H_
#define XGBGPU_HOST_PREDICTION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Predicts with one model of symmetric trees, faster than XGBoost and with the same bits. Calls return false where
/// XGBoost is to predict. Several threads may predict at the same time. No thread waits while another reads the model.
class XGBGPU_API HostPrediction {
 public:
  HostPrediction();
  ~HostPrediction();
  HostPrediction(HostPrediction const&) = delete;
  HostPrediction& operator=(HostPrediction const&) = delete;

  /// Returns true if the engine should predict `rows` rows. Decides without reading the model's trees. Adds up refused
  /// work, which counts for the engine in later calls.
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads);

  /// Predicts margins, as DevicePrediction::PredictMargins. Returns false, with margins unchanged or empty, if a tree
  /// is not symmetric, another thread is reading the model, or memory is short.
  bool PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);

  /// Forgets the model, because more has changed than rounds at its end. The next call reads it again.
  void Forget();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_HOST_PREDICTION_H_
