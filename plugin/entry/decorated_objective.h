/// Stock objectives, with gradients computed where the margins are.
#ifndef XGBGPU_PLUGIN_ENTRY_DECORATED_OBJECTIVE_H_
#define XGBGPU_PLUGIN_ENTRY_DECORATED_OBJECTIVE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "group/process_group.h"
#include "params/lambdarank_words.h"
#include "xgb/objective.h"
#include "xgb/registry.h"
#include "xgb/types.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/training.h"

namespace xgbgpu::plugin {

class Booster;

/// Decorates a stock objective. Gradients are ours if a Booster in charge of gpu_hist has just predicted the margins,
/// and the engine has the objective. Otherwise host vectors are made current, and the stock objective computes them.
class DecoratedObjective final : public XgbObjective {
 public:
  DecoratedObjective(std::unique_ptr<xgboost::ObjFunction> stock, Maker maker)
      : XgbObjective{std::move(stock)}, maker_{maker} {}

  LeafRule leaf_rule() const override;
  std::vector<float> leaf_alphas() const override { return params() ? params()->alphas : std::vector<float>{}; }

 private:
  void CheckParams(xgboost::Args const& args) const override;
  void ParamsChanged(xgboost::Args const& args) override;
  void ConfigLoaded(xgboost::Json const& config) override;
  void AddToConfig(xgboost::Json* config) const override;
  void ComputeGradients(xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info,
                        XgbGradientMatrix* out, StockGradients const& by_stock) override;
  void TransformForMetrics(xgboost::HostDeviceVector<float>* predictions, StockCall const& by_stock) override;
  /// Has the engine compute gradients, and the biases of the next round. Returns false if it does not.
  bool ComputeByEngine(Booster* booster, xgboost::MetaInfo const& info, XgbGradientMatrix* out);
  /// Has the stock objective compute gradients of the rows of all workers, and takes this worker's. Returns false if no
  /// worker has rows.
  bool ComputeOfAll(ProcessGroup* group, xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info,
                    XgbGradientMatrix* out, StockGradients const& by_stock);
  /// In a process group that trains with gpu_hist the estimate is made of the labels of all workers, as one process
  /// makes it. Stock code adds up what workers find, in another order, or takes a mean of it.
  void EstimateBaseScore(xgboost::MetaInfo const& info, StockEstimate const& by_stock) const override;
  /// In a process group leaves are set from the rows of all workers.
  void SetLeaves(LeafRows const& rows, StockLeaves const& by_stock) const override;
  bool LeavesAreDone() const override;

  /// Returns what a saved model or configuration has of the objective.
  xgboost::Json Config() const;
  /// Returns the name of the objective.
  std::string Name() const;
  /// Returns labels, weights and groups for a ranking that XGBoost computes. Returns a copy if they have changed since
  /// the last round on the same matrix: XGBoost caches results for labels by their address.
  xgboost::MetaInfo const& Moved(xgboost::MetaInfo const& info);
  /// Returns true if gpu_hist trains, and stock code would read the first row of a matrix without rows and end the
  /// process.
  bool NeedsFirstRow() const;
  /// Returns the engine's parameters of the objective; nothing if the engine lacks its meaning in this XGBoost.
  std::optional<ObjectiveParams> const& params() const;

  /// Compares the workers' objectives and parameters. `step` names the coming step in messages.
  void AgreeOnObjective(ProcessGroup* group, std::string const& step) const;

  Maker maker_;
  PositionBiases biases_;       ///< of lambdarank_unbiased, for the next gradients; empty before the first
  LambdaRankWords lambdarank_;  ///< stay empty in an XGBoost that has them
  /// Labels of the last gradients. Rankings of XGBoost know labels by their address, so the next labels lie elsewhere.
  std::unique_ptr<xgboost::MetaInfo> labels_of_all_;
  xgboost::MetaInfo const* ranked_{nullptr};  ///< of the last round of Moved
  std::optional<TargetMark> ranked_mark_;
  std::unique_ptr<xgboost::MetaInfo> moved_;  ///< labels of `ranked_` that have changed; null: they have not
  mutable bool is_current_{false};            ///< params_ are the newest
  mutable std::optional<ObjectiveParams> params_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_DECORATED_OBJECTIVE_H_
