/// Models in XGBoost's Json, before its own readers see them: those take numbers of nodes, trees and features as they
/// come, and read wherever these lead.
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

/// What was loaded as JSON or UBJSON, and what a learner must have for it. Of a model that was trained here, or loaded
/// in the deprecated binary format, nothing is known and nothing is checked.
class LoadedModel {
 public:
  /// A gbtree or dart as it is saved. Of nodes that cannot be reached from the root, only what XGBoost's reader follows
  /// is looked at: pruned trees have such nodes. Cost  a visit to every node
  ///
  /// Throws  InvalidArgument with tree, node, value and what is allowed: arrays of other sizes, children that do not
  ///         exist, are not neighbours or are reached twice, parents that do not exist, categories that cannot be,
  ///         trees of no class, leaves of other sizes. What it does not name XGBoost's reader refuses.
  void CheckTrees(xgboost::Json const& booster, int threads);
  /// A gblinear. Throws InvalidArgument.
  void CheckWeights(xgboost::Json const& booster);
  /// Returns true if trees have a vector in each leaf.
  bool has_vector_leaves() const { return vector_.value != -1; }
  /// Whatever was known.
  void Forget() { *this = LoadedModel{}; }

  /// Throws InvalidArgument if trees split features beyond the learner's number of features.
  void CheckFeatures(std::uint64_t features) const;
  /// Throws InvalidArgument if trees are of outputs beyond the learner's number of outputs, or of too few outputs.
  void CheckOutputs(std::uint32_t outputs) const;
  /// Throws InvalidArgument if weights are not those of a learner with so many features and outputs.
  void CheckWeightsFor(std::uint64_t features, std::uint32_t outputs) const;

 private:
  FoundNumber feature_;  ///< the last one that is split
  FoundNumber output_;   ///< the last one that has a tree
  FoundNumber vector_;   ///< how many numbers each leaf has, of trees with more than one
  std::size_t trees_{0};
  std::int64_t parallel_trees_{1};
  std::optional<std::size_t> weights_;  ///< of a gblinear
};

/// Throws InvalidArgument if a slice of a model's `rounds` from `begin` to `end` (0: all) would lose a round. Stock code
/// takes (end - begin) / step rounds, rounded down. It refuses other bad slices itself.
void CheckSlice(std::uint32_t rounds, std::int32_t begin, std::int32_t end, std::int32_t step);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_MODEL_CHECK_H_
