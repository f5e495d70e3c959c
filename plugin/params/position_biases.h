/// Position biases of a ranking in its saved configuration, as XGBoost 2.0 and later write them.
#ifndef XGBGPU_PLUGIN_PARAMS_POSITION_BIASES_H_
#define XGBGPU_PLUGIN_PARAMS_POSITION_BIASES_H_

#include <xgboost/json.h>

#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Writes the biases into a configuration of an objective.
void SaveBiases(PositionBiases const& biases, xgboost::Json* config);
/// Returns the biases of a configuration. The result is empty if the configuration has none, or more than
/// kMostPositions. A bias may be NaN: stock XGBoost saves NaN once margins lie far apart.
/// Throws  InvalidArgument (more biases of one kind than of the other)
PositionBiases LoadBiases(xgboost::Json const& config);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_POSITION_BIASES_H_
