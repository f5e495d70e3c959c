/// The base of decorated metrics: Metric as each series of XGBoost declares it, in neutral words.
#ifndef XGBGPU_PLUGIN_XGB_METRIC_H_
#define XGBGPU_PLUGIN_XGB_METRIC_H_

#include <xgboost/metric.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "xgb/listing.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Wraps a stock metric; XGBoost calls the wrapper. The value may be ours. The rest is the stock metric's.
class XgbMetric : public xgboost::Metric {
 public:
  explicit XgbMetric(std::unique_ptr<xgboost::Metric> stock);
  XgbMetric(XgbMetric const&) = delete;
  XgbMetric& operator=(XgbMetric const&) = delete;

  void Configure(xgboost::Args const& args) final;
  void LoadConfig(xgboost::Json const& in) final;
  void SaveConfig(xgboost::Json* out) const final { stock()->SaveConfig(out); }
  XGBGPU_BEFORE_300(double Eval(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info)
                        final;)
  XGBGPU_SINCE_300(double Evaluate(xgboost::HostDeviceVector<float> const& predictions,
                                   std::shared_ptr<xgboost::DMatrix> data) final;)
  char const* Name() const final { return stock()->Name(); }

  /// The learner's context, as it was when XGBoost called last; null before. Any thread may ask.
  XgbContext const* context() const { return context_; }

 protected:
  /// Is called after parameters were set or loaded.
  virtual void ParamsChanged() = 0;
  /// Has the stock metric compute its value from predictions on the host and `info`.
  using StockValue = std::function<double(xgboost::HostDeviceVector<float> const&, xgboost::MetaInfo*)>;
  /// Returns the metric's value; nothing if the stock metric is to compute it, from predictions on the host.
  virtual std::optional<double> Compute(xgboost::HostDeviceVector<float> const& predictions,
                                        xgboost::MetaInfo const& info, StockValue const& by_stock) = 0;

 private:
  /// Returns the stock metric with XGBoost's context. XGBoost sets the context of the wrapper only, after its
  /// construction.
  xgboost::Metric* stock() const;

  std::unique_ptr<xgboost::Metric> stock_;
  mutable std::atomic<XgbContext const*> context_{nullptr};
  Listing<XgbMetric> listing_{this};
};

/// Returns the names of the metrics that the learner with this context has now, in the order in which they were made,
/// with commas between them.
std::string MetricNamesOf(XgbContext const* ctx);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_METRIC_H_
