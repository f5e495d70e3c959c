/// What a booster tells its updater about the round in progress, for which XGBoost's interface has no argument.
#ifndef XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_
#define XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_

#include "xgbgpu/boosting_round.h"

namespace xgbgpu::plugin {

/// A booster's round of training, during which XGBoost asks the updater for trees, once for each class, on the same
/// thread. It is the current one of its thread while alive.
class CurrentRound {
 public:
  /// `cache_is_current`: the predictions that XGBoost has cached are those of the model before this round.
  CurrentRound(BoostingRound* round, bool cache_is_current)
      : round_{round}, cache_is_current_{cache_is_current}, outer_{Slot()} {
    Slot() = this;
  }
  ~CurrentRound() { Slot() = outer_; }
  CurrentRound(CurrentRound const&) = delete;
  CurrentRound& operator=(CurrentRound const&) = delete;

  /// The round in progress on this thread, or null.
  static CurrentRound* Get() { return Slot(); }

  BoostingRound& round() const { return *round_; }
  bool cache_is_current() const { return cache_is_current_; }

 private:
  static CurrentRound*& Slot() {
    static thread_local CurrentRound* current = nullptr;
    return current;
  }

  BoostingRound* round_;
  bool cache_is_current_;
  CurrentRound* outer_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_CURRENT_ROUND_H_
