/// Kernels that follow one another: each is brought to the device while the one before still works, where the device
/// can do that. docs/adr/0006-cuda-kernels.md
#ifndef XGBGPU_CORE_LAUNCH_H_
#define XGBGPU_CORE_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "core/device.h"

namespace xgbgpu::cuda {

#if defined(__CUDACC__)
/// Every thread of a kernel that is started by LaunchNext calls this, on every way through the kernel, before it
/// touches memory that a kernel, copy or fill before it in the stream may write, or writes any. Until then a kernel may
/// clear its shared memory, and read what nothing in the stream writes from the start of the tree on.
///
/// All that was enqueued before is over then, and what it wrote can be read: the kernel before, by the device's rule;
/// what came before that, since the one before has waited for it in the same way, or was not started early. Only then
/// may the next kernel come: no kernel is more than one ahead.
__device__ inline void WaitForKernelBefore() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Lets a kernel have so many bytes of dynamic shared memory. The limit belongs to the kernel, not to a launch: whoever
/// launches it, in any thread, must ask for the same.
template <typename... Parameters>
void AllowShared(void (*kernel)(Parameters...), std::size_t bytes) {
  CheckCuda(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "asking for shared memory");
}

/// Starts a kernel that calls WaitForKernelBefore; `what` as for CheckCuda. Nothing is faster after a copy or a fill,
/// and nothing is slower.
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

/// May kernels of this library be started early on the current device? Since compute capability 9.0; in recorded graphs
/// since CUDA 12.3. What decides is the code that the device was given: built for an older one it does not wait.
bool StartsEarly();

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CORE_LAUNCH_H_
