// Calls XGBoost's functions, adds advice to errors, and gives back what gpu_hist has taken and refuses.
#include "entry/stock_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "entry/known_words.h"
#include "errors/fail.h"
#include "errors/notice.h"
#include "params/device_words.h"
#include "params/foreign_words.h"
#include "xgb/next_function.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

bool GivesBack(BoosterHandle booster) {
  std::string why = CallState::OfThisThread().refusal;
  if (why.empty() || booster == nullptr || !WhyNotRegistered().empty()) return false;
  auto const words = WordsOf(booster);
  if (!words.IsTaken()) return false;
  static auto* const kSet = XGBGPU_NEXT(XGBoosterSetParam);
  for (auto const& [name, value] : GiveBack(words)) {
    if (kSet(booster, name.c_str(), value.c_str()) != 0) return false;
  }
  std::replace(why.begin(), why.end(), '\n', ' ');  // one line
  WarnOnce("take_hist " + why, "take_hist: XGBoost's own hist trains, because gpu_hist refuses. " + why);
  return true;
}

int WithAdvice(BoosterHandle booster, int result) {
  if (result == 0 || booster == nullptr || !WhyNotRegistered().empty()) return result;
  std::string const method = WordsOf(booster).tree_method;
  if (!IsOurMethod(method)) return result;
  std::string advice = InPlaceOf(XGBGetLastError());
  if (!advice.empty()) Fail(std::move(advice));
  return result;
}

int PredictFromDense(InPlaceArrays const& arrays, BoosterHandle booster, char const* config, DMatrixHandle info,
                     bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredictFromDense);
  CallScope<&CallState::in_place_arrays> scope{arrays.values == nullptr ? nullptr : &arrays};
  MatricesOfCall const matrices{&info, 1};
  return CallStock(booster, [&] { return kNext(booster, arrays.values, config, info, shape, dimensions, out); });
}

}  // namespace xgbgpu::plugin
