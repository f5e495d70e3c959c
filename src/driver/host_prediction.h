/// Large predictions of symmetric trees on the host, which the engine makes faster than stock code.
#ifndef XGBGPU_DRIVER_HOST_PREDICTION_H_
#define XGBGPU_DRIVER_HOST_PREDICTION_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "driver/base_margins.h"
#include "driver/model_view.h"
#include "predict/level_forest.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// One model, if its trees are symmetric. A shortcut only: where it does not go, stock code does, with the same bits.
/// May be used by several threads.
class HostPrediction {
 public:
  /// Whether the engine is to predict these rounds for `rows` rows with `threads` threads, as far as that is known
  /// without a look at the model's trees. `likely`: they were trained as symmetric ones, or will be.
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads, bool likely);

  /// Does what DevicePrediction::PredictMargins does. False, with margins as before, if stock code has to do it: a tree
  /// is not symmetric, or the rounds are not there.
  bool PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);

  /// The model was changed, and is to be read again.
  void Forget();

 private:
  bool TakeModel(ModelView const& model);

  std::mutex mutex_;
  std::uint32_t rounds_{0};           ///< of the model that was read; 0: none was
  std::optional<LevelForest> model_;  ///< nothing: its trees are not symmetric
};

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_HOST_PREDICTION_H_
