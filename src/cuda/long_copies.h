/// Long arrays on their way between the host and a device. CUDA builds only.
#ifndef XGBGPU_CUDA_LONG_COPIES_H_
#define XGBGPU_CUDA_LONG_COPIES_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace xgbgpu {

/// Copies to the current device from host memory of any kind, in the order of `stream`, and waits. Long arrays go
/// through pinned pieces that up to eight of `threads` threads fill: the driver alone moves a third to a seventh of the
/// bytes a second. `what` names the work in errors.
///
/// Throws  DeviceError
void CopyLongToDevice(void* to, void const* from, std::size_t bytes, int threads, cudaStream_t stream,
                      char const* what);

/// The way back: copies from the current device to host memory of any kind.
void CopyLongToHost(void* to, void const* from, std::size_t bytes, int threads, cudaStream_t stream, char const* what);

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_LONG_COPIES_H_
