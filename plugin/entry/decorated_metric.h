/// Stock metrics, computed where the predictions are.
#ifndef XGBGPU_PLUGIN_ENTRY_DECORATED_METRIC_H_
#define XGBGPU_PLUGIN_ENTRY_DECORATED_METRIC_H_

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "xgb/metric.h"
#include "xgb/registry.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::plugin {

/// Decorates a stock metric. The value is ours for predictions of a Booster in charge of gpu_hist, if the engine has
/// the metric. Otherwise predictions are brought to the host, and the stock metric computes it.
class DecoratedMetric final : public XgbMetric {
 public:
  DecoratedMetric(std::unique_ptr<xgboost::Metric> stock, Maker maker) : XgbMetric{std::move(stock)}, maker_{maker} {}

 private:
  void ParamsChanged() override { is_current_ = false; }
  /// In a process group the stock metric computes its value from the rows of all workers, as one process does.
  std::optional<double> Compute(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info,
                                StockValue const& by_stock) override;
  std::optional<double> ComputeOfAll(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info,
                                     StockValue const& by_stock) const;
  /// Computes a ranking metric if labels or groups have changed since the first evaluation of their matrix. XGBoost 3
  /// caches results for labels and groups by matrix, and would use the old results.
  std::optional<double> ComputeOfChanged(xgboost::HostDeviceVector<float> const& predictions,
                                         xgboost::MetaInfo const& info, StockValue const& by_stock);
  /// Returns the engine's parameters of the metric; nothing if the engine lacks its meaning in this XGBoost.
  std::optional<MetricParams> const& params();

  Maker maker_;
  bool is_current_{false};  ///< params_ are the newest
  std::optional<MetricParams> params_;
  std::map<xgboost::MetaInfo const*, TargetMark> ranked_;  ///< labels at the first evaluation of each matrix
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_DECORATED_METRIC_H_
