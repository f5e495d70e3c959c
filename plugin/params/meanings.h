/// Objectives and metrics of the engine, by name and series of XGBoost. A name may mean something else in another
/// series, for the same labels and without an error.
#ifndef XGBGPU_PLUGIN_PARAMS_MEANINGS_H_
#define XGBGPU_PLUGIN_PARAMS_MEANINGS_H_

#include <string>

#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Returns true if gradients, predictions and leaves of the objective `name` in `series` equal the engine's (InSeries),
/// up to rounding. `series`: 100 · major + minor version. False for names that the engine does not have, and for a
/// series that was not compared.
bool ObjectiveIsOurs(int series, std::string const& name);

/// Returns true if the metric `name` in `series` equals the engine's, for all labels, weights and groups. `name`
/// includes '@', number and '-'. False as ObjectiveIsOurs.
bool MetricIsOurs(int series, std::string const& name);

/// Returns what the name of `kind` (ObjectiveByName) means in `series`.
/// reg:absoluteerror and reg:quantileerror are smooth since 3.4.
Objective InSeries(int series, Objective kind);

/// Returns the last series in which `name` has the first meaning that the engine gave it. The engine must have the
/// name.
int LastSeriesOfObjective(std::string const& name);
int LastSeriesOfMetric(std::string const& name);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_MEANINGS_H_
