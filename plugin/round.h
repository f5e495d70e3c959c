/// What a booster tells its updater about the boosting round in progress; XGBoost's interface has no room for it.
#ifndef XGBGPU_PLUGIN_ROUND_H_
#define XGBGPU_PLUGIN_ROUND_H_

#include <xgboost/data.h>

#include <cstdint>
#include <memory>

#include "trainer_pool.h"
#include "xgbgpu/params.h"

namespace xgbgpu::plugin {

/// One call of GradientBooster::DoBoost, which calls TreeUpdater::Update once per class on the same thread.
struct Round {
  TrainParams params;
  int max_bin;
  BackendKind backend;
  std::uint32_t iteration;              ///< rounds the model has already, those of earlier trainings included
  std::uint32_t trees{0};               ///< trees grown in this round so far
  std::weak_ptr<xgboost::DMatrix> data;  ///< the training matrix; tells it from another at the same address
  bool wants_positions;                 ///< the objective will change leaves and asks which rows are in them
  bool cache_is_current;                ///< the cached predictions are those of the model before this round
  TrainerPool* trainers;

  /// The round in progress on this thread, or null.
  static Round*& Current() {
    static thread_local Round* current = nullptr;
    return current;
  }
};

/// Makes a round the current one while alive.
class RoundScope {
 public:
  explicit RoundScope(Round* round) : outer_{Round::Current()} { Round::Current() = round; }
  ~RoundScope() { Round::Current() = outer_; }
  RoundScope(RoundScope const&) = delete;
  RoundScope& operator=(RoundScope const&) = delete;

 private:
  Round* outer_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ROUND_H_
