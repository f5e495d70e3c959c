/// Parameters of XGBoost's objectives and metrics, which only their saved configurations tell.
#ifndef XGBGPU_PLUGIN_SAVED_NUMBER_H_
#define XGBGPU_PLUGIN_SAVED_NUMBER_H_

#include <xgboost/json.h>

#include <string>

#include "core/number_text.h"
#include "objective/row_views.h"

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
  return text.empty() ? fallback : TextToFloat(text.c_str(), nullptr);
}

/// aft_loss_distribution of survival:aft and aft-nloglik.
inline AftDistribution SavedDistribution(xgboost::Json const& config) {
  std::string const name = SavedText(config, "aft_loss_param", "aft_loss_distribution");
  if (name == "logistic") return AftDistribution::kLogistic;
  return name == "extreme" ? AftDistribution::kExtreme : AftDistribution::kNormal;
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_SAVED_NUMBER_H_
