/// Which XGBoost this library was loaded into.
#ifndef XGBGPU_PLUGIN_XGB_VERSION_H_
#define XGBGPU_PLUGIN_XGB_VERSION_H_

#include <string>

namespace xgbgpu::plugin {

/// The version of the XGBoost in this process, as in "1.7.4".
std::string RunningVersion();
/// The version of the headers that this file was compiled with, as in "1.7.4".
std::string BuiltVersion();

/// Empty if the interfaces of the XGBoost in this process are those we were compiled with (same major and minor
/// version); else what is needed. Uses nothing of XGBoost but one C function, so that any version can be asked.
std::string WhyVersionDoesNotFit();

/// Set once, by register.cc: empty if our names are registered, else why not.
std::string& WhyNotRegistered();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_VERSION_H_
