/// The CUDA devices of this process, and the architectures that this build has code for.
#ifndef XGBGPU_DEVICES_H_
#define XGBGPU_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "xgbgpu/api.h"

namespace xgbgpu {

/// A CUDA device.
struct CudaDevice {
  std::string name;
  int architecture;      ///< compute capability: 90 for 9.0
  std::uint64_t memory;  ///< total bytes
};

/// Returns the devices in the order of their ordinals (gpu_id). Empty if there is no device or this build cannot use
/// them. Throws nothing. Starts the CUDA driver in this process: processes forked later cannot use CUDA.
XGBGPU_API std::vector<CudaDevice> CudaDevices();

/// Returns true if this build has the CUDA backend and code for a device of this machine. Otherwise *why_not
/// (optional) gets the reason. Starts the CUDA driver in this process: processes forked later cannot use CUDA.
XGBGPU_API bool CudaAvailable(std::string* why_not = nullptr);

/// Returns the number of CUDA devices that this process sees; 0 where CudaAvailable is false. Starts the CUDA driver.
XGBGPU_API int CudaDeviceCount();

/// Returns true if this process has had memory of a CUDA device. Its next use of a device does not wait for the driver.
/// False in a process that was forked later. Starts nothing.
XGBGPU_API bool CudaIsInUse();

/// Returns the architectures of the device code, for example {"80", "90"}. Empty in a build without CUDA. Starts
/// nothing.
XGBGPU_API std::vector<std::string> CudaArchitectures();

}  // namespace xgbgpu

#endif  // XGBGPU_DEVICES_H_
