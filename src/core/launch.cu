#include "core/launch.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kFirstRuntime = 12030;
constexpr int kFirstCode = 90;  // the least architecture with code for WaitForKernelBefore

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
