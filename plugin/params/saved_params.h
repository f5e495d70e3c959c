/// Parameters of XGBoost's objectives and metrics, which only their saved configurations tell.
#ifndef XGBGPU_PLUGIN_PARAMS_SAVED_PARAMS_H_
#define XGBGPU_PLUGIN_PARAMS_SAVED_PARAMS_H_

#include <xgboost/json.h>

#include <optional>

#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// What the engine has to know of the objective that saved `config`. Nothing if the engine does not have it, or if the
/// name means something else in this series of XGBoost (meanings.h), which a line says once.
std::optional<ObjectiveParams> ObjectiveParamsOf(xgboost::Json const& config);
/// What the engine has to know of the metric `name` that saved `config`, under the same conditions.
std::optional<MetricParams> MetricParamsOf(char const* name, xgboost::Json const& config);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_SAVED_PARAMS_H_
