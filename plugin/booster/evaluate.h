/// A metric of the learner's last prediction, computed where the predictions are.
#ifndef XGBGPU_PLUGIN_BOOSTER_EVALUATE_H_
#define XGBGPU_PLUGIN_BOOSTER_EVALUATE_H_

#include <xgboost/data.h>
#include <xgboost/host_device_vector.h>

#include <functional>
#include <optional>
#include <string>

#include "xgb/types.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::plugin {

/// The metric `name` of `predictions`, which the learner with this context has made, if a Booster in charge of gpu_hist
/// made them and the engine has the metric (`params`, asked in this case only, has a value). Nothing if stock code has
/// to compute it: then the predictions have been brought to the host. Throws what stock code would end the process for.
std::optional<double> EvaluateOurs(XgbContext const* ctx, std::string const& name,
                                   std::function<std::optional<MetricParams>()> const& params,
                                   xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_EVALUATE_H_
