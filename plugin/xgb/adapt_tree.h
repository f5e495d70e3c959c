/// The engine's trees as XGBoost stores them: all that the adapter does with the nodes of a RegTree.
#ifndef XGBGPU_PLUGIN_XGB_ADAPT_TREE_H_
#define XGBGPU_PLUGIN_XGB_ADAPT_TREE_H_

#include <xgboost/tree_model.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "xgb/series.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu::plugin {

/// Returns the engine's threshold as XGBoost saves it. A threshold below all values is the least float in the engine.
/// In XGBoost 3.3 and newer it is minus infinity, where the first bin of a QuantileDMatrix begins for predictors.
inline float SavedThreshold(float threshold) {
  XGBGPU_SINCE_303(
      if (threshold == std::numeric_limits<float>::lowest()) return -std::numeric_limits<float>::infinity();)
  return threshold;
}

/// Copies `tree`, grown with this learning rate, to `out`, a new tree of one node. Node numbers stay. A leaf of `out`
/// has the weight that the gradients gave it, even if the objective has set another value.
void CopyTree(Tree const& tree, float learning_rate, xgboost::RegTree* out);

/// Copies a tree of vectors to `out`, in XGBoost 3.2 and newer. A leaf of `out` has a number for each output.
void CopyTree(VectorTree const& tree, xgboost::RegTree* out);

/// True if XGBoost saves trees of vectors that split by categories. UBJSON of 3.2 predicts something else.
constexpr bool kSavesCategoriesOfVectors = XGBGPU_BEFORE_304(false) XGBGPU_SINCE_304(true);

/// Returns how many numbers a leaf has: 1, but for trees of vectors in XGBoost 3.2 and newer.
inline std::uint32_t NumbersInLeaf(xgboost::RegTree const& XGBGPU_SINCE_302(tree)) {
  XGBGPU_SINCE_302(return tree.NumTargets();)
  XGBGPU_BEFORE_302(return 1;)
}

/// Returns what each leaf adds to the margin, as `tree` has it now (objectives may change leaves); 0 for inner nodes.
std::vector<float> LeafValues(xgboost::RegTree const& tree);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_ADAPT_TREE_H_
