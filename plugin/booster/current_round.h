/// What a booster tells its updater about the round in progress.
#ifndef XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_
#define XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_

#include "call/call_state.h"
#include "xgbgpu/boosting_round.h"

namespace xgbgpu::plugin {

/// A round of training. XGBoost asks the updater for its trees, once for each class, on the same thread. It is the
/// current round of its thread while it is alive.
class CurrentRound {
 public:
  /// `cache_is_current`: XGBoost has cached the predictions of the model before this round.
  /// `has_rows`: XGBoost has the training rows, and not a stand-in.
  CurrentRound(BoostingRound* round, bool cache_is_current, bool has_rows)
      : round_{round}, cache_is_current_{cache_is_current}, has_rows_{has_rows}, scope_{this} {}

  /// Returns the round in progress on this thread, or null.
  static CurrentRound* Get() { return CallState::OfThisThread().round; }

  BoostingRound& round() const { return *round_; }
  bool cache_is_current() const { return cache_is_current_; }
  bool has_rows() const { return has_rows_; }

 private:
  BoostingRound* round_;
  bool cache_is_current_;
  bool has_rows_;
  CallScope<&CallState::round> scope_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_
