/// What a booster tells its updater about the boosting round in progress; XGBoost's interface has no room for it.
#ifndef XGBGPU_PLUGIN_ROUND_H_
#define XGBGPU_PLUGIN_ROUND_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/tree.h"

namespace xgbgpu::plugin {

/// The trees of a round, in XGBoost's order: those of an output one after the other.
inline std::vector<RoundTree> TreesOfRound(std::uint32_t iteration, std::uint32_t outputs, std::size_t per_output) {
  std::vector<RoundTree> trees;
  for (std::uint32_t output = 0; output < outputs; ++output) {
    for (std::size_t i = 0; i < per_output; ++i) {
      trees.push_back({output, {iteration, static_cast<std::uint32_t>(trees.size())}});
    }
  }
  return trees;
}

/// One call of GradientBooster::DoBoost, which calls TreeUpdater::Update once per class on the same thread.
struct Round {
  Trainer* trainer;             ///< on the training matrix
  ResidentRows* rows{nullptr};  ///< what holds gradients and margins; null: XGBoost's host vectors do
  bool keeps_trees;             ///< evaluation sets on the device wait for the round's trees
  std::uint32_t outputs{0};     ///< classes or targets whose trees XGBoost has got so far
  TrainParams params;
  std::uint32_t iteration;      ///< rounds the model has already, those of earlier trainings included
  std::uint32_t trees{0};       ///< trees of this round that XGBoost has got so far
  bool changes_leaves;          ///< the objective wants other leaves than the gradients give
  bool adapts_leaves;           ///< if so: medians (kAbsoluteError), which the updater makes, not the objective
  Span<float const> margins{};  ///< if the updater makes them without resident rows: those before the round
  bool cache_is_current;        ///< the cached predictions are those of the model before this round
  /// With resident rows: all trees of the round. They are grown when XGBoost asks for the first of them.
  std::vector<Tree> grown{};
  /// Without resident rows: called with each tree's leaf values and output when it has been grown; may be empty.
  std::function<void(Span<float const>, std::uint32_t)> keep_leaves{};
  /// Called when all trees have been grown, with their parameters and how many there are of each output; may be empty.
  /// Starts the next round ahead.
  std::function<void(TrainParams const&, std::size_t)> look_ahead;

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
