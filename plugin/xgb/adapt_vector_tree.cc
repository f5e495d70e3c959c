// Copies trees of vectors to the trees of XGBoost 3.2 and newer.
//
// XGBoost's functions that fill such a tree differ between series. The keys of a saved tree do not, and all trees have
// a virtual function that loads them. So a tree is passed as a saved one. Its typed lists are copied and not parsed.
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

/// The categories that go right, node after node, as a saved tree has them.
struct SavedCategories {
  explicit SavedCategories(Tree const& tree) : types(tree.size()) {
    for (NodeIndex n = 0; n < static_cast<NodeIndex>(tree.size()); ++n) {
      auto const words = tree.RightCategories(n);
      if (words.empty()) continue;
      types[static_cast<std::size_t>(n)] = 1;
      nodes.push_back(n);
      begins.push_back(static_cast<std::int64_t>(categories.size()));
      for (std::size_t c = 0; c < 32 * words.size(); ++c) {
        if (((words[c / 32] >> (c % 32)) & 1U) != 0) categories.push_back(static_cast<std::int32_t>(c));
      }
      sizes.push_back(static_cast<std::int64_t>(categories.size()) - begins.back());
    }
  }

  std::vector<std::uint8_t> types;  ///< [nodes of the tree]
  std::vector<std::int32_t> categories;
  std::vector<NodeIndex> nodes;             ///< those that split by categories
  std::vector<std::int64_t> begins, sizes;  ///< of each of them, in `categories`
};

}  // namespace

void CopyTree(VectorTree const& tree, xgboost::RegTree* out) {
  Tree const& shape = tree.shape;
  std::vector<NodeIndex> right(shape.size());                           // of a leaf: the number of its vector
  constexpr float kNotRead = std::numeric_limits<float>::denorm_min();  // XGBoost writes this number, too
  std::vector<float> thresholds(shape.size(), kNotRead), leaves, weights = tree.weight;
  SavedCategories const categories{shape};
  NodeIndex vectors = 0;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    if (shape.left[n] != kNoNode) {
      right[n] = shape.left[n] + 1;
      if (categories.types[n] == 0) thresholds[n] = SavedThreshold(shape.threshold[n]);
      continue;
    }
    right[n] = vectors++;
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
  saved["split_type"] = ToList<U8Array>(categories.types);
  saved["categories"] = ToList<I32Array>(categories.categories);
  saved["categories_nodes"] = ToList<I32Array>(categories.nodes);
  saved["categories_segments"] = ToList<I64Array>(categories.begins);
  saved["categories_sizes"] = ToList<I64Array>(categories.sizes);
  out->LoadModel(Json{xgboost::Object{std::move(saved)}});
}

}  // namespace xgbgpu::plugin
