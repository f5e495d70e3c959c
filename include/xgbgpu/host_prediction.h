/// Large predictions of symmetric trees on the host, which the engine makes faster than stock code.
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

/// One model, if its trees are symmetric. A shortcut only: where it does not go, stock code does, with the same bits.
/// May be used by several threads, which predict at the same time. None waits while another reads the model.
class XGBGPU_API HostPrediction {
 public:
  HostPrediction();

  /// Whether the engine is to predict these rounds for `rows` rows with `threads` threads, as far as that is known
  /// without a look at the model's trees. If not, that counts as work that stock code does with this model.
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads);

  /// Does what DevicePrediction::PredictMargins does, for what is worthwhile. False, with margins as before or empty,
  /// if stock code has to do it: a tree is not symmetric, another thread is reading the model, or there is no memory.
  bool PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);

  /// The model was changed, by more than new rounds at its end, and is to be read again.
  void Forget();
  ~HostPrediction();
  HostPrediction(HostPrediction const&) = delete;
  HostPrediction& operator=(HostPrediction const&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_HOST_PREDICTION_H_
