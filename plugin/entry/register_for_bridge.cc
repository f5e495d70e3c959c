// Registers when the bridge asks for it, after it has compared the layouts of both sides.
#include "entry/register.h"
#include "xgb/version.h"
#include "xgboost_gpu.h"

extern "C" {

/// Registers. Returns 0, or -1 and XGBGPUAdapterError says why.
XGBGPU_EXPORT int XGBGPURegister() {
  std::string& why_not = xgbgpu::plugin::WhyNotRegistered();
  why_not = xgbgpu::plugin::Register();
  return why_not.empty() ? 0 : -1;
}

/// Returns why the call before has failed.
XGBGPU_EXPORT char const* XGBGPUAdapterError() { return xgbgpu::plugin::WhyNotRegistered().c_str(); }

}  // extern "C"
