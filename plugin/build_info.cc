#include <xgboost/c_api.h>
#include <xgboost/version_config.h>

#include <string>
#include <vector>

#include "host_version.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/trainer.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

std::string Dotted(int major, int minor, int patch) {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

/// `text` as a JSON string. XGBoost's own Json is left alone: of a version that does not fit, nothing may be used.
std::string Quote(std::string const& text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// `items` (JSON each) as a JSON array.
std::string Array(std::vector<std::string> const& items) {
  std::string out = "[";
  for (std::string const& item : items) out += (out.size() == 1 ? "" : ", ") + item;
  return out + ']';
}

std::string MakeBuildInfo() {
  std::vector<std::string> architectures;
  for (std::string const& architecture : CudaArchitectures()) architectures.push_back(Quote(architecture));
  bool const registered = WhyNotRegistered().empty();
  return "{\"version\": " + Quote(XGBGPU_VERSION) + ", \"xgboost_built\": " + Quote(BuiltVersion()) +
         ", \"xgboost_running\": " + Quote(RunningVersion()) + ", \"registered\": " + (registered ? "true" : "false") +
         ", \"why_not_registered\": " + Quote(WhyNotRegistered()) +
         ", \"cuda_architectures\": " + Array(architectures) + "}";
}

std::string MakeDeviceInfo() {
  std::string why_no_cuda;
  std::string const cuda = CudaAvailable(&why_no_cuda) ? R"("cuda", )" : "";
  std::vector<std::string> devices;
  for (CudaDevice const& device : CudaDevices()) {
    devices.push_back("{\"name\": " + Quote(device.name) + ", \"architecture\": " +
                      std::to_string(device.architecture) + ", \"memory\": " + std::to_string(device.memory) + "}");
  }
  return "{\"backends\": [" + cuda + "\"host\"], \"why_no_cuda\": " + Quote(why_no_cuda) +
         ", \"devices\": " + Array(devices) + "}";
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
