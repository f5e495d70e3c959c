/// Members of the JSON texts that callers of C functions pass. A null member counts as missing.
#ifndef XGBGPU_PLUGIN_XGB_JSON_ARGUMENTS_H_
#define XGBGPU_PLUGIN_XGB_JSON_ARGUMENTS_H_

#include <xgboost/json.h>

#include <cstdint>
#include <optional>

namespace xgbgpu::plugin {

/// Returns the member of this name, if it is there. Throws dmlc::Error if `json` is no object.
inline std::optional<xgboost::Json> MemberOf(xgboost::Json const& json, char const* name) {
  auto const& members = xgboost::get<xgboost::Object const>(json);
  auto const found = members.find(name);
  if (found == members.cend() || xgboost::IsA<xgboost::Null>(found->second)) return {};
  return found->second;
}

/// Returns the integer of this name; `otherwise` if it is not there. Throws dmlc::Error if it is no integer.
inline std::int64_t IntegerIn(xgboost::Json const& json, char const* name, std::int64_t otherwise) {
  auto const member = MemberOf(json, name);
  return member ? xgboost::get<xgboost::Integer const>(*member) : otherwise;
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_JSON_ARGUMENTS_H_
