/// Names of objectives and metrics whose meaning the engine has, by series of XGBoost. A name may mean something else in
/// another series, with the same labels and without an error.
#ifndef XGBGPU_PLUGIN_PARAMS_MEANINGS_H_
#define XGBGPU_PLUGIN_PARAMS_MEANINGS_H_

#include <string>

#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Returns true if the objective `name` has in `series` (100 · major + minor version) the gradients, predictions and
/// leaves that the engine has for that name and series (InSeries), up to roundings. False for names that the engine does
/// not have, and for a series that was not compared.
bool ObjectiveIsOurs(int series, std::string const& name);

/// Returns true if the metric `name`, with its '@', number and '-', has in `series` the value that the engine has for
/// that name, for all labels, weights and groups. False as ObjectiveIsOurs.
bool MetricIsOurs(int series, std::string const& name);

/// Returns what the name of `kind` (ObjectiveByName) means in `series`.
/// reg:absoluteerror and reg:quantileerror are smooth since 3.4.
Objective InSeries(int series, Objective kind);

/// Returns the last series in which the name, which the engine has, means what it first meant to the engine.
int LastSeriesOfObjective(std::string const& name);
int LastSeriesOfMetric(std::string const& name);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_MEANINGS_H_
