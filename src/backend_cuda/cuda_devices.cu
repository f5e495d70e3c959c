// Lists the CUDA devices, and gives the reason where none can be used.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "backend_cuda/cuda_devices.h"
#include "backend_cuda/driver_version.h"
#include "base/message.h"
#include "cuda/device.h"
#include "xgbgpu/error.h"

namespace xgbgpu::cuda {

namespace {

/// The architectures that this build has code for, ascending: 750 stands for compute capability 7.5.
constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};

/// Returns the compute capability: 90 for 9.0. It does not start the device.
int ArchitectureOf(int device) {
  int major = 0, minor = 0;
  CheckCuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking for a device's limits");
  CheckCuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "asking for a device's limits");
  return 10 * major + minor;
}

std::string Decimal(int tens) { return std::to_string(tens / 10) + "." + std::to_string(tens % 10); }

std::string WhyNoDevices(cudaError_t status) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "this machine has no CUDA driver (libcuda.so.1)";
  if (status == cudaErrorInsufficientDriver) {
    std::ifstream module{"/proc/driver/nvidia/version"};
    return WhyTooOld(driver, runtime, {std::istreambuf_iterator<char>{module}, {}});
  }
  return std::string{"no CUDA device can be used: "} + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
         ")";
}

std::string WhyNotOn(int device) {
  int const architecture = ArchitectureOf(device), oldest = kArchitectures[0] / 10;
  if (architecture >= oldest) return {};
  return "CUDA device " + std::to_string(device) + " has compute capability " + Decimal(architecture) +
         "; this build has code for " + Decimal(oldest) + " and newer";
}

}  // namespace

int CountDevices(std::string* why_not) {
  int devices = 0;
  cudaError_t const status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return devices;
  cudaGetLastError();  // it must not show up again at the next call
  *why_not = WhyNoDevices(status == cudaSuccess ? cudaErrorNoDevice : status);
  return 0;
}

std::string WhyNotUsable() {
  std::string reason;
  int const devices = CountDevices(&reason);
  for (int device = 0; device < devices; ++device) {
    reason = WhyNotOn(device);
    if (reason.empty()) return {};
  }
  return reason;
}

std::vector<CudaDevice> ListDevices() {
  std::vector<CudaDevice> devices;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return devices;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) return {};
    devices.push_back({properties.name, 10 * properties.major + properties.minor, properties.totalGlobalMem});
  }
  return devices;
}

std::vector<std::string> CompiledArchitectures() {
  std::vector<std::string> architectures;
  for (int architecture : kArchitectures) architectures.push_back(std::to_string(architecture / 10));
  return architectures;
}

void CheckDevice(int device) {
  std::string why_not;
  int const devices = CountDevices(&why_not);
  if (devices != 0 && (device < 0 || device >= devices)) {
    Throw<InvalidArgument>("The CUDA device (gpu_id) is ", device, "; allowed: 0 to ", devices - 1);
  }
  if (devices != 0) why_not = WhyNotOn(device);
  if (!why_not.empty()) {
    Throw<Unsupported>("Parameter gpu_backend is cuda, but ", why_not, "; allowed here: auto, host");
  }
}

}  // namespace xgbgpu::cuda
