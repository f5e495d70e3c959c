/// Names and values of other programs (LightGBM, CatBoost, newer and older XGBoost), and what to write in their place.
/// docs/migrating.md has them for people.
#ifndef XGBGPU_PLUGIN_PARAMS_FOREIGN_WORDS_H_
#define XGBGPU_PLUGIN_PARAMS_FOREIGN_WORDS_H_

#include <string>

namespace xgbgpu::plugin {

/// Returns true if another program or version has the parameter and it has no effect here.
bool HasNoEffect(std::string const& name);

/// Returns the line to log once about a parameter without effect; empty: no line. `in_charge`: the booster has a method
/// of ours. Other boosters have lines only about multi_strategy and about `device` of XGBoost 2: its user wants a GPU.
std::string LineAbout(std::string const& name, std::string const& value, bool in_charge);

/// Returns advice for another program's value of `parameter`: "write …", or that XGBoost has nothing like it. Empty for
/// every other value.
std::string AdviceFor(std::string const& parameter, std::string const& value);

/// Returns a better message than XGBoost's `error` about an unknown objective, metric or booster; empty: keep the
/// error.
std::string InPlaceOf(std::string const& error);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_FOREIGN_WORDS_H_
