// Functions in front that set parameters: `device` is for stock code or for us.
#include <xgboost/c_api.h>
#include <xgboost/learner.h>

#include <string>
#include <vector>

#include "booster/booster.h"
#include "params/device_words.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Returns what the learner was told, or what its loaded configuration says.
KnownWords WordsOf(xgboost::Learner const& learner) {
  KnownWords words;
  Booster::VisitConfig(learner.Ctx(), [&](BoosterConfig const& config) {
    words.tree_method = config.OurMethod();
    if (config.InCharge()) words.own_device = config.device().gpu_device;
  });
  auto const& told = learner.GetConfigurationArguments();
  auto const take = [&](char const* name, std::string* word) {
    auto const found = told.find(name);
    if (found != told.cend()) *word = found->second;
  };
  take("tree_method", &words.tree_method);
  take("device", &words.device);
  take("gpu_id", &words.gpu_id);
  take(kOwnDevice, &words.own_device);
  return words;
}

}  // namespace

extern "C" {

XGBGPU_EXPORT int XGBoosterSetParam(BoosterHandle booster, char const* name, char const* value) {
  static auto* const kNext = XGBGPU_NEXT(XGBoosterSetParam);
  if (booster == nullptr || name == nullptr || value == nullptr || !WhyNotRegistered().empty()) {
    return kNext(booster, name, value);
  }
  auto const words = WordsOf(*static_cast<xgboost::Learner const*>(booster));
  for (auto const& [name_to_set, value_to_set] : InPlaceOf({name, value}, words)) {
    int const result = kNext(booster, name_to_set.c_str(), value_to_set.c_str());
    if (result != 0) return result;
  }
  return 0;
}

}  // extern "C"

}  // namespace xgbgpu::plugin
