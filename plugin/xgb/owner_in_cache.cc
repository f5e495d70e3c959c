// Finds the owner of a matrix in the cache of its margins (XGBoost 1.7).
#include "xgb/owner.h"

namespace xgbgpu::plugin {

std::shared_ptr<xgboost::DMatrix> OwnerOf(xgboost::DMatrix* data, XgbCache const& cache) {
  auto owner = cache.ref.lock();
  if (owner.get() != data) owner.reset(data, [](xgboost::DMatrix*) {});
  return owner;
}

bool HasOwner(xgboost::DMatrix* /*data*/, XgbCache const& cache) { return !cache.ref.expired(); }

}  // namespace xgbgpu::plugin
