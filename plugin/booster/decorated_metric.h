/// Stock metrics, computed where the predictions are.
#ifndef XGBGPU_PLUGIN_BOOSTER_DECORATED_METRIC_H_
#define XGBGPU_PLUGIN_BOOSTER_DECORATED_METRIC_H_

#include <xgboost/metric.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "booster/newcomers.h"
#include "xgb/types.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::plugin {

/// Decorates a stock metric. Eval is ours for predictions of a Booster in charge of gpu_hist, if the engine has the
/// metric; all else is passed on, with predictions brought to the host first.
class DecoratedMetric : public xgboost::Metric {
 public:
  DecoratedMetric(std::unique_ptr<xgboost::Metric> inner, Maker maker);
  ~DecoratedMetric() override;
  DecoratedMetric(DecoratedMetric const&) = delete;
  DecoratedMetric& operator=(DecoratedMetric const&) = delete;

  void Configure(xgboost::Args const& args) override;
  void LoadConfig(xgboost::Json const& in) override;
  void SaveConfig(xgboost::Json* out) const override { inner()->SaveConfig(out); }
  double Eval(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info) override;
  char const* Name() const override { return inner()->Name(); }

  /// Returns the names of the metrics that the learner with this context has now, in the order in which they were made,
  /// with commas between them.
  static std::string NamesOf(XgbContext const* ctx);

 private:
  /// XGBoost gives its context to the object it asked for, after it was made; the stock one needs it, too.
  xgboost::Metric* inner() const;
  /// What the engine has to know; nothing if it does not have this metric.
  std::optional<MetricParams> const& params();

  std::unique_ptr<xgboost::Metric> inner_;
  mutable std::atomic<XgbContext const*> context_{nullptr};  ///< XGBoost's, as it was when inner() was called last
  Maker maker_;
  bool configured_{false};  ///< params_ is current
  std::optional<MetricParams> params_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_DECORATED_METRIC_H_
