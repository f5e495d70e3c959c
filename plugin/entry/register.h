/// Registers the library's parts with XGBoost.
#ifndef XGBGPU_PLUGIN_ENTRY_REGISTER_H_
#define XGBGPU_PLUGIN_ENTRY_REGISTER_H_

#include <string>

namespace xgbgpu::plugin {

/// Registers everything. Returns "" on success, else why nothing was registered.
std::string Register();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_REGISTER_H_
