/// Runs work on several devices at the same time. CUDA builds only.
#ifndef XGBGPU_COLLECTIVE_ON_DEVICES_CUDA_H_
#define XGBGPU_COLLECTIVE_ON_DEVICES_CUDA_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "collective/in_process.h"
#include "cuda/device.h"

namespace xgbgpu::cuda {

/// Calls work(i) for every i < devices.size(), each in its own thread with devices[i] current, and waits for all. A
/// device may come more than once. A single device is served by the calling thread.
///
/// Throws  the error of the lowest i that failed, after all have ended
inline void OnDevices(std::vector<int> const& devices, std::function<void(std::size_t)> const& work) {
  if (devices.size() == 1) {
    DeviceScope const scope{devices[0]};
    work(0);
    return;
  }
  RunShards(static_cast<int>(devices.size()), [&](Collective& collective) {
    auto const i = static_cast<std::size_t>(collective.shard());
    // The thread ends soon. Restoring its first device could start a device that no work uses.
    CheckCuda(cudaSetDevice(devices[i]), "choosing the device");
    work(i);
  });
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_ON_DEVICES_CUDA_H_
