/// The tree updater: XGBoost's request for trees, handed to the engine.
#ifndef XGBGPU_PLUGIN_ENTRY_UPDATER_H_
#define XGBGPU_PLUGIN_ENTRY_UPDATER_H_

#include <cstddef>

#include "params/booster_config.h"
#include "xgb/types.h"
#include "xgb/updater.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu::plugin {

/// Works for a Booster (booster.h), which keeps the parameters and announces each round.
class HistUpdater final : public XgbUpdater {
 public:
  explicit HistUpdater(XgbContext const* ctx) : XgbUpdater{kUpdater, ctx} {}

 private:
  void Grow(XgbGradientMatrix const& gradients, xgboost::DMatrix* data, NewTrees const& trees) override;
  /// Returns false if the predictions are not the model's without its newest tree.
  bool AddNewestLeaves(xgboost::DMatrix const* data, float* predictions, std::size_t stride) override;

  // The trainer and the data of the newest tree, from Grow to AddNewestLeaves.
  Trainer const* trainer_{nullptr};
  xgboost::DMatrix const* data_{nullptr};
  VectorTree vectors_;  ///< the newest tree, if it is one of vectors; else it has no outputs
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_UPDATER_H_
