/// Reads the trees of a model into the forests that predictions and explanations walk through.
#ifndef XGBGPU_PREDICTION_READ_MODEL_H_
#define XGBGPU_PREDICTION_READ_MODEL_H_

#include "predict/contributions.h"
#include "predict/forest.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Reads all trees. With `rounding_bases`, [outputs] or [1] for all outputs, each leaf is rounded to (base + leaf) -
/// base, with the base of its output.
/// Throws InvalidArgument, as Forest::Add
Forest ReadForest(ModelView const& model, Span<float const> rounding_bases = {});

/// Reads all trees for contributions of features. Throws InvalidArgument, as PathForest::Add
PathForest ReadPaths(ModelView const& model);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_READ_MODEL_H_
