// Reads the trees of a stock booster from the JSON that it saves.
#include "models/model_forest.h"

#include <xgboost/json.h>

#include <algorithm>
#include <cstdint>
#include <string>
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

/// The weight of a tree in margins; 1 where the booster drops no trees. It stands beside the model, and in it since
/// 3.4.
float WeightOf(xgboost::Json const& saved, xgboost::Json const& model, std::size_t tree) {
  for (auto const* const section : {&saved, &model}) {
    auto const& members = xgboost::get<xgboost::Object const>(*section);
    auto const weights = members.find("weight_drop");
    if (weights == members.cend()) continue;
    auto const& values = weights->second;
    if (xgboost::IsA<xgboost::F32Array>(values)) return xgboost::get<xgboost::F32Array const>(values)[tree];
    return xgboost::get<xgboost::Number const>(xgboost::get<xgboost::Array const>(values)[tree]);
  }
  return 1.0f;
}

/// Integers of a saved tree, of 32 bits or 64.
template <typename Array>
std::vector<std::uint32_t> NumbersOf(xgboost::Json const& tree, char const* name) {
  auto const& values = Values<Array>(tree, name);
  std::vector<std::uint32_t> numbers(values.size());
  std::transform(values.cbegin(), values.cend(), numbers.begin(),
                 [](auto value) { return static_cast<std::uint32_t>(value); });
  return numbers;
}

/// Categories that go right, as TreeArrays has them.
struct Categories {
  std::vector<std::uint32_t> ptr;  ///< empty if the tree has no split on categories
  std::vector<std::uint32_t> bits;
};

Categories CategoriesOf(xgboost::Json const& tree, std::size_t nodes) {
  auto const split = NumbersOf<xgboost::I32Array>(tree, "categories_nodes");
  if (split.empty()) return {};
  auto const first = NumbersOf<xgboost::I64Array>(tree, "categories_segments");
  auto const size = NumbersOf<xgboost::I64Array>(tree, "categories_sizes");
  auto const listed = NumbersOf<xgboost::I32Array>(tree, "categories");
  Categories categories;
  categories.ptr.push_back(0);
  for (std::size_t n = 0, i = 0; n < nodes; ++n) {
    if (i < split.size() && split[i] == n) {
      for (std::uint32_t j = first[i]; j < first[i] + size[i]; ++j) {
        std::size_t const word = categories.ptr.back() + listed[j] / 32;
        if (categories.bits.size() <= word) categories.bits.resize(word + 1);
        categories.bits[word] |= 1U << listed[j] % 32;
      }
      ++i;
    }
    categories.ptr.push_back(static_cast<std::uint32_t>(categories.bits.size()));
  }
  return categories;
}

/// The leaves of a saved tree: a number each, or a vector each.
class Leaves {
 public:
  /// `tree` must outlive it.
  explicit Leaves(xgboost::Json const& tree)
      : left_{Values<xgboost::I32Array>(tree, "left_children")},
        right_{Values<xgboost::I32Array>(tree, "right_children")},
        values_{Values<xgboost::F32Array>(tree, "split_conditions")} {
    auto const& members = xgboost::get<xgboost::Object const>(tree);
    auto const vectors = members.find("leaf_weights");
    if (vectors == members.cend()) return;
    auto const& numbers = xgboost::get<xgboost::F32Array const>(vectors->second);
    vectors_ = numbers;
    outputs_ = std::stoul(xgboost::get<xgboost::String const>(tree["tree_param"]["size_leaf_vector"]));
  }

  /// Returns the numbers in a leaf that is a vector; 0: each leaf is a number.
  std::size_t outputs() const { return outputs_; }
  /// Returns [nodes] thresholds of nodes with children, and values of leaves: of vectors their number for `output`.
  /// Valid until the next call.
  Span<float const> Of(std::size_t output) {
    if (outputs_ == 0) return values_;
    of_output_.assign(values_.begin(), values_.end());
    for (std::size_t n = 0; n < of_output_.size(); ++n) {
      // The right child of a leaf is the number of its vector.
      if (left_[n] == kNoNode) of_output_[n] = vectors_[static_cast<std::size_t>(right_[n]) * outputs_ + output];
    }
    return of_output_;
  }

 private:
  Span<NodeIndex const> left_, right_;
  Span<float const> values_;
  Span<float const> vectors_;  ///< [vectors, outputs]; LoadedModel has checked the numbers of the leaves
  std::size_t outputs_{0};
  std::vector<float> of_output_;
};

}  // namespace

std::vector<float> TreeWeights(xgboost::GradientBooster const& gbtree) {
  xgboost::Json saved{xgboost::Object{}};
  gbtree.SaveModel(&saved);
  xgboost::Json const& model = saved["model"];
  std::vector<float> weights(xgboost::get<xgboost::Array const>(model["trees"]).size());
  for (std::size_t tree = 0; tree < weights.size(); ++tree) weights[tree] = WeightOf(saved, model, tree);
  return weights;
}

void VisitTrees(xgboost::GradientBooster const& gbtree, std::function<void(ModelTree const&)> const& visit) {
  xgboost::Json saved{xgboost::Object{}};
  gbtree.SaveModel(&saved);
  bool const is_dart = xgboost::get<xgboost::String const>(saved["name"]) == "dart";
  xgboost::Json const& model = is_dart ? saved["gbtree"]["model"] : saved["model"];
  auto const& trees = xgboost::get<xgboost::Array const>(model["trees"]);
  auto const& outputs = xgboost::get<xgboost::Array const>(model["tree_info"]);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    xgboost::Json const& tree = trees[i];
    auto const& left = Values<xgboost::I32Array>(tree, "left_children");
    auto const features = Features(tree);
    auto const categories = CategoriesOf(tree, left.size());
    Leaves leaves{tree};
    auto const first = static_cast<std::uint32_t>(xgboost::get<xgboost::Integer const>(outputs[i]));
    for (std::uint32_t k = 0; k < std::max<std::size_t>(leaves.outputs(), 1); ++k) {
      Span<float const> const values = leaves.Of(k);
      TreeArrays const arrays{left,           Values<xgboost::I32Array>(tree, "right_children"), features,
                              values,         Values<xgboost::U8Array>(tree, "default_left"),    categories.ptr,
                              categories.bits};
      visit({arrays, Values<xgboost::F32Array>(tree, "sum_hessian"), first + k, WeightOf(saved, model, i)});
    }
  }
}

}  // namespace xgbgpu::plugin
