// Finds the owner of a matrix among the arguments of the C function that runs (XGBoost 3.0 and newer).
#include "call/call_state.h"
#include "call/matrices_of_call.h"
#include "xgb/owner.h"

namespace xgbgpu::plugin {

namespace {

/// Returns the owner of `data`; null if the C function was given another matrix, or none of ours runs.
std::shared_ptr<xgboost::DMatrix> Find(xgboost::DMatrix const* data) {
  for (MatricesOfCall const* call = CallState::OfThisThread().matrices; call != nullptr; call = call->outer()) {
    for (void* const handle : call->handles()) {
      auto const* const owner = static_cast<std::shared_ptr<xgboost::DMatrix> const*>(handle);
      if (owner != nullptr && owner->get() == data) return *owner;
    }
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<xgboost::DMatrix> OwnerOf(xgboost::DMatrix* data, XgbCache const& /*cache*/) {
  auto owner = Find(data);
  if (owner == nullptr) owner.reset(data, [](xgboost::DMatrix*) {});
  return owner;
}

bool HasOwner(xgboost::DMatrix* data, XgbCache const& /*cache*/) { return Find(data) != nullptr; }

}  // namespace xgbgpu::plugin
