/// The matrices that a C function of XGBoost was given.
#ifndef XGBGPU_PLUGIN_CALL_MATRICES_OF_CALL_H_
#define XGBGPU_PLUGIN_CALL_MATRICES_OF_CALL_H_

#include <cstddef>

#include "call/call_state.h"
#include "xgbgpu/span.h"

namespace xgbgpu::plugin {

/// The matrices that a C function of XGBoost was given, for xgb/owner.h, while it is alive.
class MatricesOfCall {
 public:
  /// `handles`: [n], of XGBoost's C interface. Null handles are passed over.
  MatricesOfCall(void* const* handles, std::size_t n)
      : handles_{handles, n}, outer_{CallState::OfThisThread().matrices}, scope_{this} {}

  Span<void* const> handles() const { return handles_; }
  /// The matrices of the call around this one; null: there is none.
  MatricesOfCall const* outer() const { return outer_; }

 private:
  Span<void* const> handles_;
  MatricesOfCall const* outer_;
  CallScope<&CallState::matrices> scope_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_CALL_MATRICES_OF_CALL_H_
