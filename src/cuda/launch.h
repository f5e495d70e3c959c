/// Starts kernels that follow one another: each comes to the device while the one before still works, where the device
/// can do that. docs/adr/0006-cuda-kernels.md
#ifndef XGBGPU_CUDA_LAUNCH_H_
#define XGBGPU_CUDA_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "cuda/device.h"

namespace xgbgpu::cuda {

#if defined(__CUDACC__)
/// Every thread of a kernel that is started by LaunchNext calls this, on every way through the kernel, before it writes
/// device memory, or reads any that a kernel, copy or fill before it in the stream may write. Until then a kernel may
/// clear its shared memory, and read what nothing in the stream writes from the start of the tree on.
///
/// When this returns, all that was enqueued before is over, and what it wrote can be read. The device promises that of
/// the kernel before. That kernel has waited in the same way for what came before it, or was not started early. Only
/// now may the next kernel come, so that no kernel is more than one ahead.
__device__ inline void WaitForKernelBefore() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// A kernel that waits for another device calls these two instead, the second when it has waited: a kernel that came
/// early would take multiprocessors from what the other device, if it is the same one, has still to do.
__device__ inline void WaitForWorkBefore() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
__device__ inline void LetKernelAfterCome() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Lets a kernel have this many bytes of dynamic shared memory. The limit belongs to the kernel, not to a launch:
/// every launch, in any thread, must ask for the same.
template <typename... Parameters>
void AllowShared(void (*kernel)(Parameters...), std::size_t bytes) {
  CheckCuda(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "asking for shared memory");
}

/// Starts a kernel that calls WaitForKernelBefore; `what` is that of CheckCuda. After a copy or a fill an early start
/// gains nothing and costs nothing.
template <typename... Parameters, typename... Arguments>
void LaunchNext(char const* what, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                std::size_t shared_bytes, DeviceLimits const& limits, cudaStream_t stream, Arguments&&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = limits.starts_early ? 1 : 0;
  CheckCuda(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), what);
}
#endif

/// May kernels of this library be started early on the current device? Devices can do that from compute capability 9.0
/// on, and recorded graphs from CUDA 12.3 on. The code that the device runs decides: code for an older one does not
/// wait.
bool StartsEarly();

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_LAUNCH_H_
