/// Models of newer versions of XGBoost. This version reads their files without a warning. It reads a base score in a
/// list as none, and a dart as a gbtree without weights. docs/adr/0027-models-of-newer-versions.md
#ifndef XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_
#define XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_

#include "models/model_bytes.h"

namespace xgbgpu::plugin {

/// True if this series misreads the model: XGBoost 1.7, and an older or newer XGBoost has written it, or it has a list
/// of base scores.
bool IsNewer(ModelSigns const& signs);

/// Loads a model or a serialised booster into a learner (a BoosterHandle). Parts that XGBoost would misread are first
/// rewritten in the form that it reads.
///
/// Throws  InvalidArgument with both versions and the part of the model that this version lacks; the learner is then as
///         XGBoost leaves it when loading fails.
void LoadNewer(void* learner, ModelSigns const& signs, Bytes* bytes);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_NEWER_MODEL_H_
