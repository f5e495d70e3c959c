/// The trees of a stock booster, as the engine reads them.
#ifndef XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_
#define XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_

#include <xgboost/gbm.h>

#include <functional>

#include "xgbgpu/tree_arrays.h"

namespace xgbgpu::plugin {

/// Calls visit(tree) for each tree of a gbtree or dart in order. Spans are valid during the call. A tree whose leaves
/// are vectors is visited as one tree for each output, one after the other.
///
/// Cost  saves the model as JSON, the one public way to its trees
void VisitTrees(xgboost::GradientBooster const& gbtree, std::function<void(ModelTree const&)> const& visit);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_
