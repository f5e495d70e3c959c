/// The owner of a matrix, which tells it from a later matrix at the same address. docs/adr/0003-dataset-identity.md
#ifndef XGBGPU_PLUGIN_XGB_OWNER_H_
#define XGBGPU_PLUGIN_XGB_OWNER_H_

#include <xgboost/data.h>

#include <memory>

#include "xgb/types.h"
#include "xgbgpu/data_key.h"

namespace xgbgpu::plugin {

/// Returns the owner of `data`. `cache` has its margins. If XGBoost names no owner, the result owns nothing, and the
/// matrix counts as a new one in every round: for C++ code that drives boosters itself.
std::shared_ptr<xgboost::DMatrix> OwnerOf(xgboost::DMatrix* data, XgbCache const& cache);
/// Returns true if XGBoost names the owner of `data`.
bool HasOwner(xgboost::DMatrix* data, XgbCache const& cache);
/// Returns the engine's key of `data`.
inline DataKey KeyOf(xgboost::DMatrix* data, XgbCache const& cache) { return DataKey{OwnerOf(data, cache)}; }

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_OWNER_H_
