// Finds out whether a device can start a kernel while the kernel before still runs.
#include "cuda/launch.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kFirstRuntime = 12030;  // CUDA 12.3
constexpr int kFirstCode = 90;        // compute capability 9.0, from which on WaitForKernelBefore has code

__global__ void AnyKernel() {}

}  // namespace

bool StartsEarly() {
  if (CUDART_VERSION < kFirstRuntime) return false;
  int driver = 0;
  CheckCuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
  cudaFuncAttributes code{};
  CheckCuda(cudaFuncGetAttributes(&code, AnyKernel), "asking for the code that the device runs");
  return driver >= kFirstRuntime && code.ptxVersion >= kFirstCode;
}

}  // namespace xgbgpu::cuda
