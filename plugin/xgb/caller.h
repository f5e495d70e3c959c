/// Whose XGBoost the caller of a function in front has.
#ifndef XGBGPU_PLUGIN_XGB_CALLER_H_
#define XGBGPU_PLUGIN_XGB_CALLER_H_

namespace xgbgpu::plugin {

/// Returns true if the library that has the code at `caller` may call us. One whose own XGBoost is of another series may
/// not: preloaded, our functions, and XGBoost's behind them, are found before that library's own. XGBGetLastError then has
/// both versions and files, and stderr has them once. A library is looked at when it calls for the first time.
bool IsServed(void const* caller);

/// The first line of each function in front: returns `failure` to a caller that IsServed does not serve.
#define XGBGPU_CHECK_CALLER(failure) \
  if (!::xgbgpu::plugin::IsServed(__builtin_return_address(0))) return failure

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_CALLER_H_
