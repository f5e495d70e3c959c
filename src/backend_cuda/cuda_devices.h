/// The CUDA devices of this machine, and which of them this build has code for. CUDA builds only.
#ifndef XGBGPU_BACKEND_CUDA_CUDA_DEVICES_H_
#define XGBGPU_BACKEND_CUDA_CUDA_DEVICES_H_

#include <string>
#include <vector>

#include "xgbgpu/devices.h"

namespace xgbgpu::cuda {

/// Returns the number of devices; 0, with the reason, if there is none.
int CountDevices(std::string* why_not);
/// Returns the reason why no device can be used; empty if a device can be used.
std::string WhyNotUsable();
/// Lists the devices; nothing if one of them cannot be asked.
std::vector<CudaDevice> ListDevices();
/// Returns the architectures that this build has code for, as in {"80", "90"}.
std::vector<std::string> CompiledArchitectures();

/// Throws InvalidArgument if device `device` does not exist, and Unsupported if the build has no code for it.
void CheckDevice(int device);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_BACKEND_CUDA_CUDA_DEVICES_H_
