// Tells which functions of XGBoost ours stand in front of.
#include <nlohmann/json.hpp>
#include <string>

#include "xgb/version.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

struct Function {
  char const* name;
  int first;  ///< the first series that has it
  int gone;   ///< the first that has it no more; 0: none so far
};

constexpr Function kFunctions[] = {
#define XGBGPU_FUNCTION(name, first, gone) {#name, first, gone},
#include "entry/functions.inc"
#undef XGBGPU_FUNCTION
};

std::string NamesInFront() {
  auto names = nlohmann::json::array();
  for (Function const& function : kFunctions) {
    if (kSeries >= function.first && (function.gone == 0 || kSeries < function.gone)) names.push_back(function.name);
  }
  return names.dump();
}

}  // namespace

}  // namespace xgbgpu::plugin

char const* XGBGPUFunctionsInFront() {
  static std::string const kNames = xgbgpu::plugin::NamesInFront();
  return kNames.c_str();
}
