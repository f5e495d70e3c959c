/// Reads the trees of a model into the forests that predictions and explanations walk through.
#ifndef XGBGPU_PREDICTION_READ_MODEL_H_
#define XGBGPU_PREDICTION_READ_MODEL_H_

#include <optional>

#include "predict/contributions.h"
#include "predict/forest.h"
#include "xgbgpu/model_view.h"

namespace xgbgpu {

/// Reads all trees. With `rounding_base`, each leaf is rounded to what it adds to this number: (base + leaf) - base.
/// Throws InvalidArgument, as Forest::Add
Forest ReadForest(ModelView const& model, std::optional<float> rounding_base = {});

/// Reads all trees for contributions of features. Throws InvalidArgument, as PathForest::Add
PathForest ReadPaths(ModelView const& model);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_READ_MODEL_H_
