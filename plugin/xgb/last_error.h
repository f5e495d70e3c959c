/// The text that XGBGetLastError returns.
#ifndef XGBGPU_PLUGIN_XGB_LAST_ERROR_H_
#define XGBGPU_PLUGIN_XGB_LAST_ERROR_H_

#include <string>

namespace xgbgpu::plugin {

/// Makes XGBGetLastError return `text` on this thread: calls a C function of XGBoost that fails with it.
void Fail(std::string text);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_LAST_ERROR_H_
