/// The user's folder for files that can be made again.
#ifndef XGBGPU_PLUGIN_BRIDGE_CACHE_FOLDER_H_
#define XGBGPU_PLUGIN_BRIDGE_CACHE_FOLDER_H_

#include <string>

namespace xgbgpu::bridge {

/// Returns $XDG_CACHE_HOME/xgboost-gpu, or ~/.cache/xgboost-gpu, and makes it if it is not there; empty if there is no
/// such folder, or if others may write into it.
std::string CacheFolder();

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_CACHE_FOLDER_H_
