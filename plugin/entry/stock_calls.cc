// Calls XGBoost's functions, and adds advice to errors.
#include "entry/stock_calls.h"

#include <xgboost/learner.h>

#include <string>
#include <utility>

#include "errors/fail.h"
#include "params/foreign_words.h"
#include "xgb/next_function.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

int WithAdvice(BoosterHandle booster, int result) {
  if (result == 0 || booster == nullptr || !WhyNotRegistered().empty()) return result;
  auto const& params = static_cast<xgboost::Learner const*>(booster)->GetConfigurationArguments();
  std::string advice = InPlaceOf(XGBGetLastError(), params);
  if (!advice.empty()) Fail(std::move(advice));
  return result;
}

int PredictFromDense(InPlaceArrays const& arrays, BoosterHandle booster, char const* config, DMatrixHandle info,
                     bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredictFromDense);
  CallScope<&CallState::in_place_arrays> scope{arrays.values == nullptr ? nullptr : &arrays};
  MatricesOfCall const matrices{&info, 1};
  return WithAdvice(booster, kNext(booster, arrays.values, config, info, shape, dimensions, out));
}

}  // namespace xgbgpu::plugin
