// Reads what a booster was told, of its learner and of its parameters of ours.
#include "entry/known_words.h"

#include <xgboost/learner.h>

#include "booster/booster.h"

namespace xgbgpu::plugin {

KnownWords WordsOf(BoosterHandle booster) {
  auto const& learner = *static_cast<xgboost::Learner const*>(booster);
  KnownWords words;
  Booster::VisitConfig(learner.Ctx(), [&](BoosterConfig const& config) {
    words.tree_method = config.OurMethod();
    if (!config.InCharge()) return;
    words.own_device = config.DeviceWord(kOwnDevice);
    words.taken = config.DeviceWord(kTakenMethod);
  });
  auto const& told = learner.GetConfigurationArguments();
  auto const take = [&](char const* name, std::string* word) {
    auto const found = told.find(name);
    if (found != told.cend()) *word = found->second;
  };
  take("tree_method", &words.tree_method);
  take("device", &words.device);
  take("gpu_id", &words.gpu_id);
  take("updater", &words.updater);
  take("booster", &words.booster);
  take(kOwnDevice, &words.own_device);
  take(kTakenMethod, &words.taken);
  return words;
}

}  // namespace xgbgpu::plugin
