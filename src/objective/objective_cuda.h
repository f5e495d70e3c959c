/// Objectives on a CUDA device.
#ifndef XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
#define XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_

#include "core/device.h"
#include "objective/cox_cuda.h"
#include "objective/objective.h"
#include "objective/rank_cuda.h"

namespace xgbgpu::cuda {

/// Memory of objectives that need some.
struct ObjectiveScratch {
  explicit ObjectiveScratch(DeviceArena* arena) : ranking{arena}, cox{arena} {}

  RankScratch ranking;
  CoxScratch cox;
};

/// As host::ComputeGradients; every array is on the device. Only enqueues.
///
/// Cost  One output: 16 bytes a row, 20 with weights. Fastest where every array without gaps begins at a multiple of 16
///       bytes, as device memory does. Several: fastest with views by output (OutputMajor).
///       Ranking: a radix sort by group and label, for kRankNdcg and kRankMap another by group and margin; memory in
///       `scratch`, which ranking and kCox need and whose first use allocates. kCox needs `by_time`, too: seven
///       kernels.
/// Same  bit-equal to the host (a NaN is a NaN)
void ComputeGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                      OutputView<GradientPair> gradients, DeviceLimits const& limits, cudaStream_t stream,
                      ObjectiveScratch* scratch = nullptr);

/// As host::Transform; both arrays are on the device. Only enqueues.
void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out,
               DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
