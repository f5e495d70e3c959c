/// What a booster tells its updater about the round in progress.
#ifndef XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_
#define XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_

#include "xgb/api_call.h"
#include "xgbgpu/boosting_round.h"

namespace xgbgpu::plugin {

/// A round of training, during which XGBoost asks the updater for trees, once for each class, on the same thread. It is
/// the current round of its thread while it is alive.
class CurrentRound {
 public:
  /// `cache_is_current`: XGBoost has cached the predictions of the model before this round.
  CurrentRound(BoostingRound* round, bool cache_is_current)
      : round_{round}, cache_is_current_{cache_is_current}, scope_{this} {}

  /// Returns the round in progress on this thread, or null.
  static CurrentRound* Get() { return CallState::OfThisThread().round; }

  BoostingRound& round() const { return *round_; }
  bool cache_is_current() const { return cache_is_current_; }

 private:
  BoostingRound* round_;
  bool cache_is_current_;
  CallScope<&CallState::round> scope_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_
