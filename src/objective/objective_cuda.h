/// Objectives on a CUDA device.
#ifndef XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
#define XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_

#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "objective/cox_cuda.h"
#include "objective/rank_cuda.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::cuda {

/// What a kernel that computes gradients finds on the way; lives on the device. Zero before the first.
struct FoundMaxima {
  GradientMaxima so_far;  ///< zero between kernels
  std::uint32_t finished_blocks;
  GradientMaxima of_all;
};

/// Memory of objectives that need some, and of maxima.
struct ObjectiveScratch {
  explicit ObjectiveScratch(DeviceArena* device) : arena{device}, ranking{device}, cox{device} {}

  DeviceArena* arena;
  DeviceBuffer<FoundMaxima> maxima;
  RankScratch ranking;
  CoxScratch cox;
};

/// Gradients of one output that nobody has computed: what they are computed with. On the device, [rows].
struct RowLosses {
  /// An objective that has a loss (VisitLoss). Its iteration and seed are 0: a graph that is recorded with it serves
  /// again.
  ObjectiveParams objective;
  float const* margins;
  float const* labels;
  float const* weights;  ///< or nullptr
  GradientPair* pairs;   ///< for all of them, should they be needed; nullptr: those of some rows will do
};

/// Enqueues what host::ComputeGradients does. Every array is on the device.
///
/// Cost  One output: 16 bytes a row, 20 with weights. Fastest where every array without gaps begins at a multiple of 16
///       bytes, as device memory does. Several: fastest with views by output (OutputMajor).
///       Ranking: a radix sort by group and label, for kRankNdcg and kRankMap another by group and margin; memory in
///       `scratch`, which ranking and kCox need and whose first use allocates. kCox needs `by_time`, too: seven
///       kernels.
/// Same  bit-equal to the host (a NaN is a NaN)
/// Returns  the maxima of the gradients, on the device, until the next call with this scratch; nullptr without one, and
///       where finding them would be another pass
GradientMaxima const* ComputeGradients(ObjectiveParams const& params, TargetView const& targets,
                                       OutputView<float const> margins, OutputView<GradientPair> gradients,
                                       DeviceLimits const& limits, cudaStream_t stream,
                                       ObjectiveScratch* scratch = nullptr);

/// Enqueues what host::Transform does. Both arrays are on the device.
void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out,
               DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
