/// The build without the CUDA backend.

#include "xgbgpu/devices.h"

namespace xgbgpu {

std::vector<CudaDevice> CudaDevices() { return {}; }
std::vector<std::string> CudaArchitectures() { return {}; }

}  // namespace xgbgpu
