/// Saved parameters of boosters, objectives and metrics, and parameters as they are set: the first line is `name=value
/// name=value …`, the rest a saved configuration of a gbtree, in JSON.
#include <dmlc/logging.h>
#include <xgboost/json.h>

#include <sstream>

#include "fuzz.h"
#include "models/model_bytes.h"
#include "params/booster_config.h"
#include "params/saved_params.h"
#include "xgbgpu/error.h"

namespace {

xgboost::Args ToArgs(std::string const& line) {
  xgboost::Args args;
  std::istringstream words{line};
  for (std::string word; words >> word;) {
    auto const equals = word.find('=');
    if (equals != std::string::npos) args.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return args;
}

/// Reads all parameters of a saved configuration, sets one of the booster's, and saves them again.
void Load(std::string const& text) {
  if (xgbgpu::plugin::IsNestedDeeper(text, xgbgpu::plugin::kMostNesting)) return;
  xgboost::Json saved = xgboost::Json::Load(xgboost::StringView{text});
  xgbgpu::plugin::ObjectiveParamsOf(saved);
  for (char const* metric : {"aft-nloglik", "rmse", "tweedie-nloglik@1.5", "ndcg@8-"}) {
    xgbgpu::plugin::MetricParamsOf(metric, saved);
  }
  xgbgpu::plugin::BoosterConfig config;
  config.Load(&saved);
  config.Configure({{"max_depth", "3"}});
  config.Save(&saved);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const lines = xgbgpu::fuzz::Lines(xgbgpu::fuzz::Text(data, size), 2);
  try {
    xgbgpu::plugin::BoosterConfig config;
    config.Configure(ToArgs(lines[0]));
    if (config.InCharge()) xgbgpu::plugin::ToTrainParams(config.tree(), config.device(), 0, config.IsExact());
  } catch (xgbgpu::Error const&) {
  } catch (dmlc::Error const&) {  // an error of XGBoost's parameters
  }
  try {
    Load(lines[1]);
  } catch (xgbgpu::Error const&) {
  } catch (dmlc::Error const&) {
  }
  return 0;
}
