/// Decides which libraries may call our functions in front of XGBoost's.
#ifndef XGBGPU_PLUGIN_XGB_CALLER_H_
#define XGBGPU_PLUGIN_XGB_CALLER_H_

namespace xgbgpu::plugin {

/// Returns true if the library with the code at `caller` may call us. A library with an XGBoost of another series may
/// not: if ours is preloaded, the loader finds our functions before that library's own. XGBGetLastError then has both
/// versions and files, and stderr has them once. A library is checked at its first call.
bool IsServed(void const* caller);

/// The first line of each function in front: returns `failure` if IsServed refuses the caller.
#define XGBGPU_CHECK_CALLER(failure) \
  if (!::xgbgpu::plugin::IsServed(__builtin_return_address(0))) return failure

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_CALLER_H_
