// Functions in front that set parameters: `device` is for stock code or for us, and so is `hist` on a GPU.
#include <xgboost/c_api.h>

#include <vector>

#include "entry/known_words.h"
#include "errors/fail.h"
#include "params/device_words.h"
#include "params/take_hist.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

extern "C" {

XGBGPU_EXPORT int XGBoosterSetParam(BoosterHandle booster, char const* name, char const* value) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterSetParam);
  if (booster == nullptr || name == nullptr || value == nullptr || !WhyNotRegistered().empty()) {
    return kNext(booster, name, value);
  }
  std::vector<Parameter> to_set;
  int result = Run("setting a parameter", [&] { to_set = InPlaceOf({name, value}, WordsOf(booster), TakesHist()); });
  for (auto parameter = to_set.cbegin(); parameter != to_set.cend() && result == 0; ++parameter) {
    result = kNext(booster, parameter->first.c_str(), parameter->second.c_str());
  }
  return result;
}

XGBGPU_EXPORT void XGBGPUTakeHist(int takes) { TakeHist(takes != 0); }

}  // extern "C"

}  // namespace xgbgpu::plugin
