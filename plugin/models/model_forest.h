/// The trees of a stock booster, as the engine reads them.
#ifndef XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_
#define XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_

#include <xgboost/gbm.h>

#include <functional>
#include <vector>

#include "xgbgpu/tree_arrays.h"

namespace xgbgpu::plugin {

/// Calls visit(tree) for each tree of a gbtree or dart in order. Spans are valid during the call. A tree whose leaves
/// are vectors is visited as one tree for each output, one after the other.
///
/// Cost  saves the model as JSON, the one public way to its trees
void VisitTrees(xgboost::GradientBooster const& gbtree, std::function<void(ModelTree const&)> const& visit);

/// Returns the weights of all trees of a gbtree. Cost: as VisitTrees, 4 µs a tree of 64 leaves.
std::vector<float> TreeWeights(xgboost::GradientBooster const& gbtree);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_
