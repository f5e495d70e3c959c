// Copies trees of vectors to the trees of XGBoost 3.2 and newer.
//
// XGBoost's functions that fill such a tree differ between series. The words of a saved tree do not, and loading is a
// virtual function of all trees. So a tree is told as a saved one, with typed lists, which are copied and not parsed.
#include <xgboost/json.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "xgb/adapt_tree.h"

namespace xgbgpu::plugin {

namespace {

template <typename List, typename T>
List ToList(std::vector<T> const& values) {
  List list{values.size()};
  for (std::size_t i = 0; i < values.size(); ++i) list.Set(i, static_cast<typename List::value_type>(values[i]));
  return list;
}

}  // namespace

void CopyTree(VectorTree const& tree, xgboost::RegTree* out) {
  Tree const& shape = tree.shape;
  std::vector<NodeIndex> right(shape.size());  // of a leaf: the number of its vector
  std::vector<float> thresholds(shape.size()), leaves, weights = tree.weight;
  NodeIndex vectors = 0;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    if (shape.left[n] != kNoNode) {
      right[n] = shape.left[n] + 1;
      thresholds[n] = shape.threshold[n];
      continue;
    }
    right[n] = vectors++;
    thresholds[n] = std::numeric_limits<float>::denorm_min();  // is not read; XGBoost writes this number, too
    for (std::size_t i = n * tree.outputs; i < (n + 1) * tree.outputs; ++i) {
      weights[i] = tree.leaf_value[i];
      leaves.push_back(tree.leaf_value[i]);
    }
  }
  using xgboost::F32Array, xgboost::I32Array, xgboost::I64Array, xgboost::U8Array, xgboost::Json;
  xgboost::Object::Map sizes;
  sizes["num_deleted"] = xgboost::String{"0"};
  sizes["num_feature"] = xgboost::String{std::to_string(out->NumFeatures())};
  sizes["num_nodes"] = xgboost::String{std::to_string(shape.size())};
  sizes["size_leaf_vector"] = xgboost::String{std::to_string(tree.outputs)};
  xgboost::Object::Map saved;
  saved["tree_param"] = xgboost::Object{std::move(sizes)};
  saved["left_children"] = ToList<I32Array>(shape.left);
  saved["right_children"] = ToList<I32Array>(right);
  saved["parents"] = ToList<I32Array>(shape.parent);
  saved["split_indices"] = ToList<I32Array>(shape.feature);
  saved["split_conditions"] = ToList<F32Array>(thresholds);
  saved["default_left"] = ToList<U8Array>(shape.default_left);
  saved["loss_changes"] = ToList<F32Array>(shape.gain);
  saved["sum_hessian"] = ToList<F32Array>(shape.sum_hess);
  saved["base_weights"] = ToList<F32Array>(weights);
  saved["leaf_weights"] = ToList<F32Array>(leaves);
  saved["split_type"] = ToList<U8Array>(std::vector<std::uint8_t>(shape.size()));  // all splits are by numbers
  saved["categories"] = I32Array{};
  saved["categories_nodes"] = I32Array{};
  saved["categories_segments"] = I64Array{};
  saved["categories_sizes"] = I64Array{};
  out->LoadModel(Json{xgboost::Object{std::move(saved)}});
}

}  // namespace xgbgpu::plugin
