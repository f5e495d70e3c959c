#include "model_forest.h"

#include <xgboost/json.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace xgbgpu::plugin {

namespace {

template <typename Array>
auto const& Values(xgboost::Json const& tree, char const* name) {
  return xgboost::get<Array const>(tree[name]);
}

/// Split features are stored in 32 bits, or in 64 for very wide data.
std::vector<FeatureIndex> Features(xgboost::Json const& tree) {
  xgboost::Json const& array = tree["split_indices"];
  if (xgboost::IsA<xgboost::I64Array>(array)) {
    auto const& wide = xgboost::get<xgboost::I64Array const>(array);
    return {wide.cbegin(), wide.cend()};
  }
  auto const& narrow = xgboost::get<xgboost::I32Array const>(array);
  return {narrow.cbegin(), narrow.cend()};
}

/// The weight of a tree in margins: of a gbtree 1.
float WeightOf(xgboost::Json const& saved, std::size_t tree) {
  auto const& members = xgboost::get<xgboost::Object const>(saved);
  auto const weights = members.find("weight_drop");
  if (weights == members.cend()) return 1.0f;
  return xgboost::get<xgboost::Number const>(xgboost::get<xgboost::Array const>(weights->second)[tree]);
}

/// visit(tree, output, weight) for each tree of a gbtree or dart in order, until there is one that splits on
/// categories: then false.
template <typename Visit>
bool VisitTrees(xgboost::GradientBooster const& gbtree, Visit&& visit) {
  xgboost::Json saved{xgboost::Object{}};
  gbtree.SaveModel(&saved);
  bool const is_dart = xgboost::get<xgboost::String const>(saved["name"]) == "dart";
  xgboost::Json const& model = is_dart ? saved["gbtree"]["model"] : saved["model"];
  auto const& trees = xgboost::get<xgboost::Array const>(model["trees"]);
  auto const& outputs = xgboost::get<xgboost::Array const>(model["tree_info"]);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    auto const& types = Values<xgboost::U8Array>(trees[i], "split_type");
    if (std::any_of(types.cbegin(), types.cend(), [](std::uint8_t type) { return type != 0; })) return false;
    visit(trees[i], static_cast<std::uint32_t>(xgboost::get<xgboost::Integer const>(outputs[i])), WeightOf(saved, i));
  }
  return true;
}

}  // namespace

std::optional<Forest> ForestOf(xgboost::GradientBooster const& gbtree, std::optional<float> rounding_base) {
  Forest forest;
  bool const complete = VisitTrees(gbtree, [&](xgboost::Json const& tree, std::uint32_t output, float weight) {
    auto const& left = Values<xgboost::I32Array>(tree, "left_children");
    auto const& given = Values<xgboost::F32Array>(tree, "split_conditions");
    std::vector<float> values{given.cbegin(), given.cend()};
    for (std::size_t n = 0; rounding_base && n < values.size(); ++n) {
      if (left[n] == kNoNode) values[n] = (*rounding_base + values[n]) - *rounding_base;
    }
    forest.Add(left, Values<xgboost::I32Array>(tree, "right_children"), Features(tree), values,
               Values<xgboost::U8Array>(tree, "default_left"), output, weight);
  });
  return complete ? std::optional<Forest>{std::move(forest)} : std::nullopt;
}

std::optional<PathForest> PathForestOf(xgboost::GradientBooster const& gbtree) {
  PathForest forest;
  bool const complete = VisitTrees(gbtree, [&](xgboost::Json const& tree, std::uint32_t output, float weight) {
    forest.Add(Values<xgboost::I32Array>(tree, "left_children"), Values<xgboost::I32Array>(tree, "right_children"),
               Features(tree), Values<xgboost::F32Array>(tree, "split_conditions"),
               Values<xgboost::U8Array>(tree, "default_left"), Values<xgboost::F32Array>(tree, "sum_hessian"), output,
               weight);
  });
  return complete ? std::optional<PathForest>{std::move(forest)} : std::nullopt;
}

}  // namespace xgbgpu::plugin
