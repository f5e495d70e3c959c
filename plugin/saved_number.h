/// Parameters of XGBoost's objectives and metrics, which only their saved configurations tell.
#ifndef XGBGPU_PLUGIN_SAVED_NUMBER_H_
#define XGBGPU_PLUGIN_SAVED_NUMBER_H_

#include <xgboost/json.h>

#include <cstdlib>
#include <string>

namespace xgbgpu::plugin {

/// A parameter in a section of a saved configuration, as text; "" if it is not there.
inline std::string SavedText(xgboost::Json const& config, char const* section, char const* name) {
  auto const& all = xgboost::get<xgboost::Object const>(config);
  auto const found = all.find(section);
  if (found == all.cend()) return {};
  auto const& values = xgboost::get<xgboost::Object const>(found->second);
  auto const value = values.find(name);
  return value == values.cend() ? std::string{} : xgboost::get<xgboost::String const>(value->second);
}

/// The same as a number, or `fallback`.
inline float SavedNumber(xgboost::Json const& config, char const* section, char const* name, float fallback) {
  std::string const text = SavedText(config, section, name);
  return text.empty() ? fallback : std::strtof(text.c_str(), nullptr);
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_SAVED_NUMBER_H_
