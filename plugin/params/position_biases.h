/// Position biases of a ranking in its saved configuration, as XGBoost 2.0 and later write them.
#ifndef XGBGPU_PLUGIN_PARAMS_POSITION_BIASES_H_
#define XGBGPU_PLUGIN_PARAMS_POSITION_BIASES_H_

#include <xgboost/json.h>

#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Writes the biases into a configuration of an objective.
void SaveBiases(PositionBiases const& biases, xgboost::Json* config);
/// Returns the biases of a configuration; empty if it has none, or more than the engine has (kMostPositions). Throws InvalidArgument if there are not as many of
/// either kind, or one is negative or not finite.
PositionBiases LoadBiases(xgboost::Json const& config);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_POSITION_BIASES_H_
