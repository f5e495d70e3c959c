/// Starts kernels that follow one another: each kernel starts while the previous kernel still works, if the device can
/// do that. docs/adr/0006-cuda-kernels.md
#ifndef XGBGPU_CUDA_LAUNCH_H_
#define XGBGPU_CUDA_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "cuda/device.h"

namespace xgbgpu::cuda {

#if defined(__CUDACC__)
/// Every thread of a kernel that LaunchNext starts calls this, on every way through the kernel: before it writes device
/// memory, and before it reads memory that an earlier kernel, copy or fill in the stream may write. Until then a kernel
/// may clear its shared memory, and read memory that nothing in the stream writes from the start of the tree on.
///
/// When this returns, all earlier work in the stream is over, and its writes can be read. The device promises this for
/// the previous kernel. The previous kernel has waited for earlier work in this way, or was not started early. Only now
/// may the next kernel start, so no kernel is more than one ahead.
__device__ inline void WaitForKernelBefore() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// A kernel that waits for another device calls WaitForWorkBefore instead, and LetKernelAfterCome after its wait. The
/// other device may be this device: a kernel started early would take multiprocessors from its work.
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

/// Starts a kernel that calls WaitForKernelBefore. `what`: as for CheckCuda. After a copy or a fill an early start
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

/// Returns true if kernels of this library may be started early on the current device. Devices can do that from compute
/// capability 9.0 on, and recorded graphs from CUDA 12.3 on. The code that the device runs decides: code for an older
/// device does not wait.
bool StartsEarly();

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_LAUNCH_H_
