/// Arrays in the memory of a CUDA device. CUDA builds only.
#ifndef XGBGPU_USER_ARRAYS_DEVICE_ARRAYS_CUDA_H_
#define XGBGPU_USER_ARRAYS_DEVICE_ARRAYS_CUDA_H_

#include "backend/device_arrays.h"

namespace xgbgpu::cuda {

/// Returns the only object. Starts nothing.
DeviceArrays const& Arrays();

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_USER_ARRAYS_DEVICE_ARRAYS_CUDA_H_
