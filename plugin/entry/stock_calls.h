/// Calls of XGBoost's functions that several functions in front make.
#ifndef XGBGPU_PLUGIN_ENTRY_STOCK_CALLS_H_
#define XGBGPU_PLUGIN_ENTRY_STOCK_CALLS_H_

#include <xgboost/c_api.h>

#include "call/call_state.h"
#include "data/in_place_arrays.h"

namespace xgbgpu::plugin {

/// Returns true if gpu_hist has refused the last call in the place of `hist`. XGBoost trains that booster from now on, and
/// one line says why.
bool GivesBack(BoosterHandle booster);
/// Returns `result`, what a function of XGBoost returned for the booster. If it failed over a word of another program,
/// XGBGetLastError says what to write in its place.
int WithAdvice(BoosterHandle booster, int result);

/// Returns what call() returns, a function of XGBoost's for the booster: the second time, if the first one was refused
/// and GivesBack. An error has advice.
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
