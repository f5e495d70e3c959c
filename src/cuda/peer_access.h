/// Devices that use each other's memory. CUDA builds only.
#ifndef XGBGPU_CUDA_PEER_ACCESS_H_
#define XGBGPU_CUDA_PEER_ACCESS_H_

namespace xgbgpu {

/// Lets the current device use the memory of `peer` over the link between them, and returns true; false if they have
/// none. It stays so until the process ends. Copies work without it, too, through the host. A device always reaches
/// its own memory. Several threads may call it at a time.
///
/// Cost    microseconds, but the first time tens of milliseconds
/// Throws  DeviceError
bool EnablePeerAccess(int peer);

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_PEER_ACCESS_H_
