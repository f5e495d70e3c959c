// Hands the evaluation of a stock metric to the booster that made the predictions.
#include "entry/decorated_metric.h"

#include <xgboost/json.h>

#include "booster/evaluation.h"
#include "params/saved_params.h"

namespace xgbgpu::plugin {

std::optional<MetricParams> const& DecoratedMetric::params() {
  if (!is_current_ && maker_ == Maker::kKnown) {
    xgboost::Json config{xgboost::Object{}};
    SaveConfig(&config);
    params_ = MetricParamsOf(Name(), config);
  }
  is_current_ = true;
  return params_;
}

std::optional<double> DecoratedMetric::Compute(xgboost::HostDeviceVector<float> const& predictions,
                                               xgboost::MetaInfo const& info) {
  return EvaluateOurs(
      context(), Name(), [this] { return params(); }, predictions, info);
}

}  // namespace xgbgpu::plugin
