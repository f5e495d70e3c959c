/// Whole models on a CUDA device. CUDA builds only.
#ifndef XGBGPU_PREDICT_PREDICTOR_CUDA_H_
#define XGBGPU_PREDICT_PREDICTOR_CUDA_H_

#include <memory>

#include "predict/forest.h"
#include "predict/predictor.h"

namespace xgbgpu::cuda {

/// Copies the forest to the device. Throws DeviceError, OutOfDeviceMemory.
std::unique_ptr<DevicePredictor> MakePredictor(Forest const& forest, int device);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_PREDICTOR_CUDA_H_
