/// Models of newer versions of XGBoost. This one reads their files without a word, and takes one base score in a list
/// for none and a dart for a gbtree without weights. docs/adr/0027-models-of-newer-versions.md
#ifndef XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_
#define XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_

#include "models/model_bytes.h"

namespace xgbgpu::plugin {

/// True unless the model says that this series of XGBoost or an older one has written it, and has base scores as this one
/// reads them.
bool IsNewer(ModelSigns const& signs);

/// Loads a model, or a booster that was serialised, into a learner (a BoosterHandle): as XGBoost does, once what it
/// would misread is written as it reads it.
///
/// Throws  InvalidArgument with both versions and what of the model this one does not have; then the learner is as
///         XGBoost leaves it when loading fails.
void LoadNewer(void* learner, ModelSigns const& signs, Bytes* bytes);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_
