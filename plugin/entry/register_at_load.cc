// Registers when the loader loads this library, which is linked to XGBoost.
#include <cstdio>

#include "entry/register.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

bool const kRegistered = [] {
  std::string& why_not = WhyNotRegistered();
  why_not = Register();
  // XGBoost's log is not used: nothing of a version that does not fit may be called.
  if (!why_not.empty()) std::fprintf(stderr, "xgboost-gpu: gpu_hist was not registered: %s.\n", why_not.c_str());
  return why_not.empty();
}();

}  // namespace

}  // namespace xgbgpu::plugin
