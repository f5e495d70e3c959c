#include <xgboost/c_api.h>
#include <xgboost/version_config.h>

#include <string>
#include <vector>

#include "host_version.h"
#include "json_text.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/trainer.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

std::string Dotted(int major, int minor, int patch) {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

std::string MakeBuildInfo() {
  std::vector<std::string> architectures;
  for (std::string const& architecture : CudaArchitectures()) architectures.push_back(Quote(architecture));
  bool const registered = WhyNotRegistered().empty();
  return Object({{"version", Quote(XGBGPU_VERSION)},
                 {"xgboost_built", Quote(BuiltVersion())},
                 {"xgboost_running", Quote(RunningVersion())},
                 {"registered", registered ? "true" : "false"},
                 {"why_not_registered", Quote(WhyNotRegistered())},
                 {"cuda_architectures", Array(architectures)}});
}

std::string MakeDeviceInfo() {
  std::string why_no_cuda;
  std::vector<std::string> backends{Quote("host")};
  if (CudaAvailable(&why_no_cuda)) backends.insert(backends.begin(), Quote("cuda"));
  std::vector<std::string> devices;
  for (CudaDevice const& device : CudaDevices()) {
    devices.push_back(Object({{"name", Quote(device.name)},
                              {"architecture", std::to_string(device.architecture)},
                              {"memory", std::to_string(device.memory)}}));
  }
  return Object({{"backends", Array(backends)}, {"why_no_cuda", Quote(why_no_cuda)}, {"devices", Array(devices)}});
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
  if (major == XGBOOST_VER_MAJOR && minor == XGBOOST_VER_MINOR) return {};
  return "this build of xgboost-gpu works in XGBoost " + std::to_string(XGBOOST_VER_MAJOR) + '.' +
         std::to_string(XGBOOST_VER_MINOR) + ".x, and the one in this process is " + RunningVersion();
}

std::string& WhyNotRegistered() {
  static std::string why_not{"not initialised"};
  return why_not;
}

}  // namespace xgbgpu::plugin

void XGBGPUVersion(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = XGBGPU_VERSION_MAJOR;
  if (minor != nullptr) *minor = XGBGPU_VERSION_MINOR;
  if (patch != nullptr) *patch = XGBGPU_VERSION_PATCH;
}

char const* XGBGPUBuildInfo() {
  static std::string const kInfo = xgbgpu::plugin::MakeBuildInfo();
  return kInfo.c_str();
}

char const* XGBGPUDeviceInfo() {
  static std::string const kInfo = xgbgpu::plugin::MakeDeviceInfo();
  return kInfo.c_str();
}
