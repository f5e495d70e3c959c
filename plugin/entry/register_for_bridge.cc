// Compares layouts and registers, when the bridge asks for it.
#include <exception>

#include "entry/register.h"
#include "xgb/layouts.h"
#include "xgb/version.h"
#include "xgboost_gpu.h"

extern "C" {

/// Returns 0 if this library and XGBoost see the same members; else -1, and XGBGPUAdapterError says which differ.
XGBGPU_EXPORT int XGBGPUSelfTest() {
  try {
    xgbgpu::plugin::CheckLayouts();
    return 0;
  } catch (std::exception const& error) {
    xgbgpu::plugin::WhyNotRegistered() = error.what();
    return -1;
  }
}

/// Registers. Returns 0, or -1 and XGBGPUAdapterError says why.
XGBGPU_EXPORT int XGBGPURegister() {
  std::string& why_not = xgbgpu::plugin::WhyNotRegistered();
  why_not = xgbgpu::plugin::Register();
  return why_not.empty() ? 0 : -1;
}

/// Returns why the call before has failed.
XGBGPU_EXPORT char const* XGBGPUAdapterError() { return xgbgpu::plugin::WhyNotRegistered().c_str(); }

}  // extern "C"
