/// Which XGBoost this library was loaded into.
#ifndef XGBGPU_PLUGIN_XGB_VERSION_H_
#define XGBGPU_PLUGIN_XGB_VERSION_H_

#include <xgboost/c_api.h>
#include <xgboost/version_config.h>

#include <string>

#include "xgb/series.h"

namespace xgbgpu::plugin {

/// Returns what an XGBoostVersion says, as in "1.7.4".
std::string VersionOf(decltype(XGBoostVersion)* function);
/// Returns the version of the XGBoost in this process.
std::string RunningVersion();
/// Major and minor version of the headers that this file was compiled with.
constexpr int kBuiltSeries[] = {XGBOOST_VER_MAJOR, XGBOOST_VER_MINOR};
/// The series as one number: 107 for 1.7.
constexpr int kSeries = XGBGPU_SERIES;

/// Returns the version of the headers that this file was compiled with, as in "1.7.4", and their series, as in "1.7".
std::string BuiltVersion();
std::string BuiltSeries();
/// Returns true if an XGBoostVersion says that series.
bool IsOfBuiltSeries(decltype(XGBoostVersion)* function);

/// Returns an empty text if the XGBoost in this process has the major and minor version of our headers; else the
/// version that is needed. Calls one C function of XGBoost, which all versions have.
std::string WhyVersionDoesNotFit();

/// Empty if our names are registered, else why not. register.cc sets it, once.
std::string& WhyNotRegistered();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_VERSION_H_
