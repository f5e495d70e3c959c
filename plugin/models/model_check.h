/// Checks models in XGBoost's Json before XGBoost reads them. XGBoost's readers follow node, tree and feature numbers
/// without checking their range.
#ifndef XGBGPU_PLUGIN_MODELS_MODEL_CHECK_H_
#define XGBGPU_PLUGIN_MODELS_MODEL_CHECK_H_

#include <xgboost/base.h>
#include <xgboost/json.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace xgbgpu::plugin {

/// Where a number was found.
struct FoundNumber {
  std::int64_t value{-1};
  std::size_t tree{0};
  std::int64_t node{0};
};

/// A model loaded as JSON or UBJSON, and what it needs of a learner. Models trained here, or loaded in the deprecated
/// binary format, are not known and not checked.
class LoadedModel {
 public:
  /// Checks a saved gbtree or dart. Pruned trees have nodes that the root does not reach. In such a node only the
  /// numbers that XGBoost's reader follows are checked. Cost  a visit to every node
  ///
  /// Throws  InvalidArgument with tree, node, value and what is allowed: arrays of other sizes, children that do not
  ///         exist, are not neighbours or are reached twice, parents that do not exist, categories that cannot be,
  ///         trees of no class, leaves of other sizes. What it does not name XGBoost's reader refuses.
  void CheckTrees(xgboost::Json const& booster, int threads);
  /// Checks a saved gblinear. Throws InvalidArgument.
  void CheckWeights(xgboost::Json const& booster);
  /// Returns true if trees have a vector in each leaf.
  bool has_vector_leaves() const { return vector_.value != -1; }
  /// Returns true if XGBoost keeps weights of the trees. It reads weights of a gbtree since 3.3.
  bool has_tree_weights() const { return has_tree_weights_; }
  /// Forgets the loaded model.
  void Forget() { *this = LoadedModel{}; }

  /// Throws InvalidArgument if trees split features beyond the learner's number of features.
  void CheckFeatures(std::uint64_t features) const;
  /// Throws InvalidArgument if trees are of outputs beyond the learner's number of outputs, or of too few outputs.
  void CheckOutputs(std::uint32_t outputs) const;
  /// Throws InvalidArgument if the number of weights does not fit a learner with `features` features and `outputs`
  /// outputs.
  void CheckWeightsFor(std::uint64_t features, std::uint32_t outputs) const;

 private:
  FoundNumber feature_;  ///< the highest feature that is split
  FoundNumber output_;   ///< the highest output that has a tree
  FoundNumber vector_;   ///< numbers in each leaf, for trees with vectors in leaves
  std::size_t trees_{0};
  std::int64_t parallel_trees_{1};
  bool has_tree_weights_{false};
  std::optional<std::size_t> weights_;  ///< of a gblinear
};

/// Throws InvalidArgument if a slice of a model's `rounds` from `begin` to `end` (0: all) would lose a round. Stock
/// code takes (end - begin) / step rounds, rounded down. It refuses other bad slices itself.
void CheckSlice(std::uint32_t rounds, std::int32_t begin, std::int32_t end, std::int32_t step);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_MODEL_CHECK_H_
