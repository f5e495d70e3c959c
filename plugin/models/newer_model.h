/// Models of newer versions of XGBoost. This one reads their files without a word, and takes one base score in a list
/// for none and a dart for a gbtree without weights. docs/adr/0027-models-of-newer-versions.md
#ifndef XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_
#define XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_

#include "models/model_bytes.h"

namespace xgbgpu::plugin {

/// True if this series misreads the model: XGBoost 1.7, and an older or newer XGBoost has written it, or it has a list of
/// base scores.
bool IsNewer(ModelSigns const& signs);

/// Loads a model, or a booster that was serialised, into a learner (a BoosterHandle): as XGBoost does, once what it
/// would misread is written as it reads it.
///
/// Throws  InvalidArgument with both versions and what of the model this one does not have; then the learner is as
///         XGBoost leaves it when loading fails.
void LoadNewer(void* learner, ModelSigns const& signs, Bytes* bytes);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_
