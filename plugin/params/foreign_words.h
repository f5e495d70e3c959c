/// Names and values of other programs (LightGBM, CatBoost, newer and older XGBoost), and what to write in their place.
/// docs/migrating.md has them for people.
#ifndef XGBGPU_PLUGIN_PARAMS_FOREIGN_WORDS_H_
#define XGBGPU_PLUGIN_PARAMS_FOREIGN_WORDS_H_

#include <string>

namespace xgbgpu::plugin {

/// Is this a parameter that another program or another version has, and that has no effect here?
bool HasNoEffect(std::string const& name);

/// What to say once of such a parameter with this value; empty if there is nothing to say. `in_charge`: the booster has
/// a method of ours. Of other boosters only the ways of XGBoost 2 to ask for a GPU are said, for who writes them wants
/// one.
std::string LineAbout(std::string const& name, std::string const& value, bool in_charge);

/// For a value of `parameter` that another program has: "write …", or that nothing is like it. Empty for every
/// other value.
std::string AdviceFor(std::string const& parameter, std::string const& value);

/// What to say in place of XGBoost's `error` about an objective, metric or booster that it does not know; empty to
/// leave it.
std::string InPlaceOf(std::string const& error);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_FOREIGN_WORDS_H_
