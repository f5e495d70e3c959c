/// A stock booster's trees as the engine's predictors take them.
#ifndef XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_
#define XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_

#include <xgboost/gbm.h>

#include <optional>

#include "predict/contributions.h"
#include "predict/forest.h"

namespace xgbgpu::plugin {

/// All trees of a gbtree, or of a dart with their weights, in their order. Cost: the model saved as JSON, which is the
/// one public way to its trees.
///
/// rounding_base: leaves are rounded to what they add to this number, (base + leaf) - base, as a stock dart in place
/// does.
Forest ForestOf(xgboost::GradientBooster const& gbtree, std::optional<float> rounding_base = {});
/// All trees of a gbtree or dart, for contributions of features. Throws InvalidArgument for what PathForest does not
/// take.
PathForest PathForestOf(xgboost::GradientBooster const& gbtree);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_MODEL_FOREST_H_
