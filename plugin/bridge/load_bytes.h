/// Loads a shared object that is in memory.
#ifndef XGBGPU_PLUGIN_BRIDGE_LOAD_BYTES_H_
#define XGBGPU_PLUGIN_BRIDGE_LOAD_BYTES_H_

#include <functional>
#include <string>

#include "bridge/xgboost_image.h"

namespace xgbgpu::bridge {

/// Returns the handle of a shared object with these bytes and without code, loaded locally: from a memory file, or from
/// a file in folder() that is gone afterwards. Throws BridgeError if neither can be loaded.
DlHandle LoadBytes(std::string const& bytes, std::string const& name, std::function<std::string()> const& folder);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_LOAD_BYTES_H_
