// Asks the XGBoost of this process for its version.
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

std::string Dotted(int major, int minor, int patch) {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

}  // namespace

std::string VersionOf(decltype(XGBoostVersion)* function) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  function(&major, &minor, &patch);
  return Dotted(major, minor, patch);
}

std::string RunningVersion() { return VersionOf(XGBoostVersion); }

std::string BuiltVersion() { return Dotted(XGBOOST_VER_MAJOR, XGBOOST_VER_MINOR, XGBOOST_VER_PATCH); }

std::string BuiltSeries() { return std::to_string(kBuiltSeries[0]) + '.' + std::to_string(kBuiltSeries[1]); }

bool IsOfBuiltSeries(decltype(XGBoostVersion)* function) {
  int major = 0;
  int minor = 0;
  function(&major, &minor, nullptr);
  return major == kBuiltSeries[0] && minor == kBuiltSeries[1];
}

std::string WhyVersionDoesNotFit() {
  if (IsOfBuiltSeries(XGBoostVersion)) return {};
  return "this build of xgboost-gpu works in XGBoost " + BuiltSeries() + ".x, and the one in this process is " +
         RunningVersion();
}

std::string& WhyNotRegistered() {
  static std::string why_not{"not initialised"};
  return why_not;
}

}  // namespace xgbgpu::plugin
