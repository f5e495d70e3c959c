/// Members of XGBoost's JSON, checked. XGBoost's own messages do not name the key.
#ifndef XGBGPU_PLUGIN_XGB_JSON_VALUES_H_
#define XGBGPU_PLUGIN_XGB_JSON_VALUES_H_

#include <xgboost/json.h>

#include <cstdint>
#include <string>

#include "base/quoted.h"
#include "xgb/series.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

/// The ValueKind of a list of float32 in binary JSON.
constexpr auto kFloatList = xgboost::Value::ValueKind::XGBGPU_BEFORE_300(kNumberArray) XGBGPU_SINCE_300(kF32Array);

/// Where a saved tree has the vectors of its leaves (multi_strategy=multi_output_tree).
enum class LeafVectors : std::uint8_t {
  kNowhere,  ///< no tree has any
  kOfNodes,  ///< in base_weights, one for each node; such a tree has no loss_changes and no sum_hessian
  kOfLeaves  ///< in leaf_weights, one for each leaf, whose place in right_children is its number
};
constexpr LeafVectors kLeafVectors =
    LeafVectors::XGBGPU_BEFORE_300(kNowhere) XGBGPU_SINCE_300(XGBGPU_BEFORE_302(kOfNodes) XGBGPU_SINCE_302(kOfLeaves));

/// Throws InvalidArgument unless the value is of this kind. `key` is what messages call it.
template <typename Kind>
void CheckIs(xgboost::Json const& value, std::string const& key) {
  if (xgboost::IsA<Kind>(value)) return;
  throw InvalidArgument{"Key " + Quoted(key) + " of the loaded configuration has a value of kind " +
                        std::string{value.GetValue().TypeStr()} + "; allowed: " + std::string{Kind{}.TypeStr()}};
}

/// Returns the members of an object. Throws InvalidArgument if it is none.
inline xgboost::Object::Map const& MembersOf(xgboost::Json const& value, std::string const& key) {
  CheckIs<xgboost::Object>(value, key);
  return xgboost::get<xgboost::Object const>(value);
}

/// Returns the member `name` of the object `key`; null if it has none. Throws InvalidArgument if that is no object.
inline xgboost::Json const* FindMember(xgboost::Json const& object, char const* name, std::string const& key) {
  auto const& members = MembersOf(object, key);
  auto const found = members.find(name);
  return found == members.cend() ? nullptr : &found->second;
}

/// Returns the text of the member `name` of the object `key`; empty if it has none. Throws InvalidArgument if it is no
/// text.
inline std::string TextOf(xgboost::Json const& object, char const* name, std::string const& key) {
  xgboost::Json const* const value = FindMember(object, name, key);
  if (value == nullptr) return {};
  CheckIs<xgboost::String>(*value, key + '.' + name);
  return xgboost::get<xgboost::String const>(*value);
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_JSON_VALUES_H_
