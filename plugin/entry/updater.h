/// The tree updater: XGBoost's request for one tree, handed to the engine.
#ifndef XGBGPU_PLUGIN_ENTRY_UPDATER_H_
#define XGBGPU_PLUGIN_ENTRY_UPDATER_H_

#include <xgboost/tree_updater.h>

#include <vector>

#include "params/booster_config.h"
#include "xgb/types.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// Works for a Booster (booster.h), which keeps the parameters and announces each round.
class HistUpdater : public xgboost::TreeUpdater {
 public:
  using TreeUpdater::TreeUpdater;

  char const* Name() const override { return kUpdater; }
  bool HasNodePosition() const override { return true; }

  /// Parameters, and hence the configuration, are the booster's business.
  void Configure(xgboost::Args const&) override {}
  void LoadConfig(xgboost::Json const&) override {}
  void SaveConfig(xgboost::Json*) const override {}

  /// Grows `trees` (one, or num_parallel_tree) from `gradients` ([rows]).
  void Update(XgbGradients* gradients, xgboost::DMatrix* data,
              xgboost::common::Span<xgboost::HostDeviceVector<xgboost::bst_node_t>> out_position,
              std::vector<xgboost::RegTree*> const& trees) override;

  /// Adds the leaf values of the tree grown last to the predictions of its training matrix. False if those are not the
  /// model's predictions without that tree, so that they have to be computed anew.
  bool UpdatePredictionCache(xgboost::DMatrix const* data, xgboost::linalg::VectorView<float> predictions) override;

 private:
  // The tree grown last; valid from Update to UpdatePredictionCache.
  Trainer const* trainer_{nullptr};
  xgboost::DMatrix const* data_{nullptr};
  xgboost::RegTree const* tree_{nullptr};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_UPDATER_H_
