/// Members of saved models, which may be missing or something else.
#ifndef XGBGPU_PLUGIN_MODELS_JSON_MEMBERS_H_
#define XGBGPU_PLUGIN_MODELS_JSON_MEMBERS_H_

#include <xgboost/json.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace xgbgpu::plugin {

/// The member of an object, or null.
inline xgboost::Json const* Find(xgboost::Json const& object, char const* name) {
  if (!xgboost::IsA<xgboost::Object>(object)) return nullptr;
  auto const& members = xgboost::get<xgboost::Object const>(object);
  auto const found = members.find(name);
  return found == members.cend() ? nullptr : &found->second;
}

/// Returns the member of an object if it is text, else null.
inline std::string const* FindText(xgboost::Json const& object, char const* name) {
  xgboost::Json const* const found = Find(object, name);
  return found == nullptr || !xgboost::IsA<xgboost::String>(*found) ? nullptr
                                                                    : &xgboost::get<xgboost::String const>(*found);
}

/// Reads a saved parameter, which is text. Returns `fallback` if it is missing or no number; XGBoost reports that.
inline std::int64_t Number(xgboost::Json const& section, char const* name, std::int64_t fallback) {
  std::string const* const text = FindText(section, name);
  if (text == nullptr) return fallback;
  char* end = nullptr;
  std::int64_t const number = std::strtoll(text->c_str(), &end, 10);
  return end == text->c_str() ? fallback : number;
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_JSON_MEMBERS_H_
