/// Explains why a driver older than the CUDA of the build cannot run its code.
#ifndef XGBGPU_BACKEND_CUDA_DRIVER_VERSION_H_
#define XGBGPU_BACKEND_CUDA_DRIVER_VERSION_H_

#include <string>

namespace xgbgpu::cuda {

/// Returns the reason why `driver` cannot run code of `runtime`. Both are CUDA's version numbers: 12020 is 12.2.
/// `module` is the text of /proc/driver/nvidia/version, which has the driver's own version; it may be empty.
std::string WhyTooOld(int driver, int runtime, std::string const& module);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_BACKEND_CUDA_DRIVER_VERSION_H_
