// The function that has matrices of estimators binned as they are made.
#include <xgboost/c_api.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/message.h"
#include "base/quoted.h"
#include "call/call_state.h"
#include "errors/fail.h"
#include "params/booster_config.h"
#include "params/device_words.h"
#include "xgbgpu/dataset.h"
#include "xgbgpu/error.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Returns the parameters as a booster of ours gets them. Throws InvalidArgument for a text that is no object of texts.
xgboost::Args ReadParameters(char const* text) {
  auto const json = nlohmann::json::parse(text, nullptr, false);
  bool const is_right =
      json.is_object() && std::all_of(json.cbegin(), json.cend(), [](auto const& value) { return value.is_string(); });
  if (!is_right) Throw<InvalidArgument>("parameters is ", Quoted(text), "; allowed: a JSON object of texts");
  KnownWords known;
  known.tree_method = "gpu_hist";
  xgboost::Args args;
  for (auto const& [name, value] : json.items()) {
    auto const to_set = InPlaceOf({name, value.template get<std::string>()}, known, false);
    args.insert(args.end(), to_set.cbegin(), to_set.cend());
  }
  return args;
}

/// Returns the place of a training that needs the bins of its matrix alone; null if these parameters need more.
std::shared_ptr<Place const> PlaceOfBins(xgboost::Args const& args, bool on_host) {
  if (XGCommunicatorGetWorldSize() > 1) return nullptr;
  BoosterConfig config;
  try {
    config.Configure(args);
  } catch (std::exception const&) {  // the training will say what is wrong
    return nullptr;
  }
  bool const is_tree_booster = std::all_of(args.cbegin(), args.cend(), [](auto const& parameter) {
    return parameter.first != "booster" || parameter.second == "gbtree";
  });
  bool const reads_values = config.DropsTrees() || config.IsExact() || config.Updates();
  if (!is_tree_booster || !config.OwnsRounds() || reads_values) return nullptr;
  Place place = PlaceIfThere(config.device());
  place.memory = ToMemoryLimits(config.device());
  bool const is_there =
      place.backend == BackendKind::kCuda ? place.devices == 1 : on_host && place.memory.training_bytes == 0;
  return is_there ? std::make_shared<Place const>(std::move(place)) : nullptr;
}

}  // namespace

extern "C" {

XGBGPU_EXPORT int XGBGPUBinAtOnce(char const* parameters, int on_host, int* is_told) {
  auto& place = CallState::OfThisThread().bins_at_once;
  place = nullptr;
  return Run("reading parameters", [&] {
    if (is_told == nullptr) Throw<InvalidArgument>("is_told is null; allowed: the address of a number");
    if (parameters != nullptr) place = PlaceOfBins(ReadParameters(parameters), on_host != 0);
    *is_told = place != nullptr ? 1 : 0;
  });
}

}  // extern "C"

}  // namespace xgbgpu::plugin
