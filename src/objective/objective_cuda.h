/// Objectives on a CUDA device.
#ifndef XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
#define XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_

#include "core/device.h"
#include "objective/objective.h"

namespace xgbgpu::cuda {

/// As host::ComputeGradients; every array is on the device. Only enqueues.
///
/// Cost  One output: 16 bytes a row, 20 with weights. Fastest where every array without gaps begins at a multiple of 16
///       bytes, as device memory does. Several: fastest with views by output (OutputMajor).
/// Same  bit-equal to the host (a NaN is a NaN)
void ComputeGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                      OutputView<GradientPair> gradients, DeviceLimits const& limits, cudaStream_t stream);

/// As host::Transform; both arrays are on the device. Only enqueues.
void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out,
               DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
