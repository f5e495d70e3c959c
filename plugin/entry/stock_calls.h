/// Calls XGBoost's functions for several of our functions in front of them.
#ifndef XGBGPU_PLUGIN_ENTRY_STOCK_CALLS_H_
#define XGBGPU_PLUGIN_ENTRY_STOCK_CALLS_H_

#include <xgboost/c_api.h>

#include "call/call_state.h"
#include "data/in_place_arrays.h"

namespace xgbgpu::plugin {

/// Returns true if gpu_hist has refused the last call in the place of `hist`. XGBoost trains that booster from now on,
/// and one line says why.
bool GivesBack(BoosterHandle booster);
/// Returns `result`, the status of an XGBoost function for the booster. If the function failed over a word of another
/// program, XGBGetLastError then says what to write instead.
int WithAdvice(BoosterHandle booster, int result);

/// Calls an XGBoost function for the booster, and returns its status. Calls it again if gpu_hist refused and GivesBack.
/// Adds advice to an error.
template <typename Call>
int CallStock(BoosterHandle booster, Call&& call) {
  CallState::OfThisThread().refusal.clear();
  int result = call();
  if (result != 0 && GivesBack(booster)) result = call();
  return WithAdvice(booster, result);
}

/// Calls XGBoost's XGBoosterPredictFromDense for arrays.values. CallState::in_place_arrays is `&arrays` meanwhile.
int PredictFromDense(InPlaceArrays const& arrays, BoosterHandle booster, char const* config, DMatrixHandle info,
                     bst_ulong const** shape, bst_ulong* dimensions, float const** out);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_STOCK_CALLS_H_
