/// Reads parameters of XGBoost's objectives and metrics. Only their saved configurations contain them.
#ifndef XGBGPU_PLUGIN_PARAMS_SAVED_PARAMS_H_
#define XGBGPU_PLUGIN_PARAMS_SAVED_PARAMS_H_

#include <xgboost/json.h>

#include <optional>

#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Returns the engine's parameters of the objective that saved `config`. Nothing if the engine does not have the
/// objective. Nothing, and a line in the log once, if its name means something else in this series (meanings.h).
std::optional<ObjectiveParams> ObjectiveParamsOf(xgboost::Json const& config);
/// Returns the engine's parameters of the metric `name` that saved `config`. Nothing as ObjectiveParamsOf.
std::optional<MetricParams> MetricParamsOf(char const* name, xgboost::Json const& config);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_SAVED_PARAMS_H_
