/// An adapter of xgboost-gpu, and its engine, as files and in the process.
#ifndef XGBGPU_PLUGIN_BRIDGE_ADAPTER_H_
#define XGBGPU_PLUGIN_BRIDGE_ADAPTER_H_

#include <string>

#include "bridge/names.h"
#include "bridge/xgboost_image.h"

namespace xgbgpu::bridge {

/// What adapters need instead of libxgboost: the name of the table of addresses.
constexpr char kTableName[] = "libxgb_bridge.so";

/// Returns the path of the adapter for the image's series; throws BridgeError if the folder has it not.
std::string AdapterIn(std::string const& folder, XGBoostImage const& image);

/// Returns the names that the adapter, and the engine in its folder or the parent, need of XGBoost. Throws BridgeError
/// if the adapter does not need the table: then it is made for another loader.
Wanted NeedsOf(std::string const& adapter);

/// Loads the adapter, lets it compare matrices and trees on both sides, and has it register. It stays in the process.
/// If the adapter refuses, unloads it and throws BridgeError.
void LoadAdapter(std::string const& path, XGBoostImage const& image);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_ADAPTER_H_
