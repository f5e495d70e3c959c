// The C functions that say what was built and which devices are here.
#include <nlohmann/json.hpp>
#include <string>

#include "xgb/version.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/process_devices.h"
#include "xgbgpu/trainer.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Names of devices and reasons come from drivers: what is no UTF-8 in them must not be an error here.
std::string ToText(nlohmann::ordered_json const& info) {
  return info.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string MakeBuildInfo() {
  bool const cuda = !CudaArchitectures().empty();
  return ToText({{"version", XGBGPU_VERSION},
                 {"xgboost_built", BuiltVersion()},
                 {"xgboost_running", RunningVersion()},
                 {"registered", WhyNotRegistered().empty()},
                 {"why_not_registered", WhyNotRegistered()},
                 {"cuda_architectures", CudaArchitectures()},
                 {"gpus_of_a_process", cuda ? "peer memory, or host memory where there is none" : ""},
                 {"gpus_of_processes", cuda ? "peer memory on one host, NCCL on several or where there is none" : ""}});
}

std::string MakeDeviceInfo() {
  std::string why_no_cuda;
  auto backends = nlohmann::ordered_json::array();
  if (CudaAvailable(&why_no_cuda)) backends.push_back("cuda");
  backends.push_back("host");
  auto devices = nlohmann::ordered_json::array();
  for (CudaDevice const& device : CudaDevices()) {
    devices.push_back({{"name", device.name}, {"architecture", device.architecture}, {"memory", device.memory}});
  }
  std::string why_no_nccl;
  std::string const nccl = NcclHere(&why_no_nccl);
  return ToText({{"backends", backends},
                 {"why_no_cuda", why_no_cuda},
                 {"devices", devices},
                 {"nccl", nccl},
                 {"why_no_nccl", why_no_nccl}});
}

}  // namespace

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
