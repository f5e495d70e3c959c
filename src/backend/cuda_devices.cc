/// What there is, told by the CUDA runtime and by the build.

#include <sstream>

#include "core/device.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

std::vector<CudaDevice> CudaDevices() {
  std::vector<CudaDevice> devices;
  int count = 0;
  if (!CudaAvailable() || cudaGetDeviceCount(&count) != cudaSuccess) return devices;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) return {};
    devices.push_back({properties.name, 10 * properties.major + properties.minor, properties.totalGlobalMem});
  }
  return devices;
}

std::vector<std::string> CudaArchitectures() {
  std::istringstream stream{XGBGPU_CUDA_ARCHITECTURES};
  std::vector<std::string> architectures;
  for (std::string architecture; stream >> architecture;) architectures.push_back(architecture);
  return architectures;
}

}  // namespace xgbgpu
