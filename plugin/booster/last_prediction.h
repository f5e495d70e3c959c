/// The last prediction of margins on a thread.
#ifndef XGBGPU_PLUGIN_BOOSTER_LAST_PREDICTION_H_
#define XGBGPU_PLUGIN_BOOSTER_LAST_PREDICTION_H_

#include <xgboost/data.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "call/call_state.h"
#include "xgb/types.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/training.h"

namespace xgbgpu::plugin {

class Booster;

/// Tells a learner's objective and metrics where the booster's last margins are.
struct LastPrediction {
  std::weak_ptr<Booster*> by;  ///< expired once the booster is gone
  xgboost::DMatrix* data;
  XgbCache* cache;
  xgboost::HostDeviceVector<float> const* margins;  ///< of `cache`, to compare with only
  KeptRows* kept;                                   ///< rows on a device with these margins, or null
  xgboost::HostDeviceVector<float>* evaluated;      ///< XGBoost's copy of the margins, once an evaluation has begun
  ObjectiveParams objective;                        ///< of `evaluated`
  bool training;                                    ///< true: a dart has left out the trees drawn last
  bool is_base;                                     ///< all margins are the base score, and `cache` is empty
  std::uint64_t number;                             ///< of the prediction on this thread
  /// Metrics of `evaluated` that a group has computed together with the first of them, by what they are.
  std::vector<std::pair<std::string, double>> metrics;

  static LastPrediction& OfThisThread() {
    auto& last = CallState::OfThisThread().last_prediction;
    if (last == nullptr) last = std::make_shared<LastPrediction>();
    return *last;
  }
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_LAST_PREDICTION_H_
