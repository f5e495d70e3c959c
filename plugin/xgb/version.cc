// Asks the XGBoost of this process for its version.
#include "xgb/version.h"

#include <xgboost/c_api.h>

namespace xgbgpu::plugin {

namespace {

std::string Dotted(int major, int minor, int patch) {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

}  // namespace

std::string RunningVersion() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return Dotted(major, minor, patch);
}

std::string BuiltVersion() { return Dotted(XGBOOST_VER_MAJOR, XGBOOST_VER_MINOR, XGBOOST_VER_PATCH); }

std::string WhyVersionDoesNotFit() {
  int major = 0;
  int minor = 0;
  XGBoostVersion(&major, &minor, nullptr);
  if (major == kBuiltSeries[0] && minor == kBuiltSeries[1]) return {};
  return "this build of xgboost-gpu works in XGBoost " + std::to_string(kBuiltSeries[0]) + '.' +
         std::to_string(kBuiltSeries[1]) + ".x, and the one in this process is " + RunningVersion();
}

std::string& WhyNotRegistered() {
  static std::string why_not{"not initialised"};
  return why_not;
}

}  // namespace xgbgpu::plugin
