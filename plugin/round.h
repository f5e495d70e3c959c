/// What a booster tells its updater about the boosting round in progress; XGBoost's interface has no room for it.
#ifndef XGBGPU_PLUGIN_ROUND_H_
#define XGBGPU_PLUGIN_ROUND_H_

#include <cstdint>
#include <functional>

#include "xgbgpu/params.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// One call of GradientBooster::DoBoost, which calls TreeUpdater::Update once per class on the same thread.
struct Round {
  Trainer* trainer;             ///< on the training matrix
  ResidentRows* rows{nullptr};  ///< what holds gradients and margins; null: XGBoost's host vectors do
  bool keeps_trees;             ///< evaluation sets on the device wait for the round's trees
  std::uint32_t outputs{0};     ///< classes or targets whose trees have been grown so far
  TrainParams params;
  std::uint32_t iteration;  ///< rounds the model has already, those of earlier trainings included
  std::uint32_t trees{0};   ///< trees grown in this round so far
  bool wants_positions;     ///< the objective will change leaves and asks which rows are in them
  bool cache_is_current;    ///< the cached predictions are those of the model before this round
  bool starts_ahead;        ///< with resident rows: a tree may be started before the one before it is stored
  /// Called with the parameters of its trees after the last of them; may be empty. Starts the next round ahead.
  std::function<void(TrainParams const&)> look_ahead;

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
