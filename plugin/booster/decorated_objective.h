/// Stock objectives, with gradients computed where the margins are.
#ifndef XGBGPU_PLUGIN_BOOSTER_DECORATED_OBJECTIVE_H_
#define XGBGPU_PLUGIN_BOOSTER_DECORATED_OBJECTIVE_H_

#include <xgboost/objective.h>

#include <memory>
#include <optional>

#include "booster/newcomers.h"
#include "training/boosting_round.h"
#include "xgb/types.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Decorates a stock objective. GetGradient is ours when the margins are those that a Booster in charge of gpu_hist has
/// just predicted and the engine has the objective. All else is passed on, with host vectors made current first.
class DecoratedObjective : public xgboost::ObjFunction {
 public:
  DecoratedObjective(std::unique_ptr<xgboost::ObjFunction> inner, Maker maker);
  ~DecoratedObjective() override;

  void Configure(xgboost::Args const& args) override;
  void LoadConfig(xgboost::Json const& in) override;
  void SaveConfig(xgboost::Json* out) const override { inner()->SaveConfig(out); }

  void GetGradient(xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info, int iteration,
                   XgbGradients* out) override;

  char const* DefaultEvalMetric() const override { return inner()->DefaultEvalMetric(); }
  void PredTransform(xgboost::HostDeviceVector<float>* predictions) const override {
    inner()->PredTransform(predictions);
  }
  void EvalTransform(xgboost::HostDeviceVector<float>* predictions) override;
  float ProbToMargin(float base_score) const override { return inner()->ProbToMargin(base_score); }
  /// In a process group that trains with gpu_hist the estimate is made of the labels of all workers, as one process
  /// makes it; stock code takes a mean of the workers' estimates.
  void InitEstimation(xgboost::MetaInfo const& info, xgboost::linalg::Tensor<float, 1>* base_score) const override;
  xgboost::ObjInfo Task() const override;
  std::uint32_t Targets(xgboost::MetaInfo const& info) const override { return inner()->Targets(info); }
  void UpdateTreeLeaf(xgboost::HostDeviceVector<xgboost::bst_node_t> const& position, xgboost::MetaInfo const& info,
                      xgboost::HostDeviceVector<float> const& predictions, xgboost::RegTree* tree) const override {
    inner()->UpdateTreeLeaf(position, info, predictions, tree);
  }

  /// What the engine has to know; nothing if it does not have this objective.
  std::optional<ObjectiveParams> const& params() const;

 private:
  /// XGBoost gives its context to the object it asked for, after it was made; the stock one needs it, too.
  xgboost::ObjFunction* inner() const;

  std::unique_ptr<xgboost::ObjFunction> inner_;
  Maker maker_;
  mutable bool configured_{false};  ///< params_ is current
  mutable std::optional<ObjectiveParams> params_;
};

/// Is the objective of the learner with this context decorated? It then asks for the margins and predictions that it
/// needs. One that is not, because it was registered after this library was loaded, looks for them on the host.
bool IsDecorated(XgbContext const* ctx);

/// What sets the leaves of trees for `objective`, which is null if the user computes gradients. Medians are known of
/// reg:absoluteerror, if XGBoost asked for it after this library was loaded.
LeafRule LeafRuleOf(xgboost::ObjFunction const* objective);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_DECORATED_OBJECTIVE_H_
