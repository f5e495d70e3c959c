/// Objectives on a CUDA device.
#ifndef XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
#define XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_

#include "collective/collective_cuda.h"
#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "objective/cox_cuda.h"
#include "objective/rank_cuda.h"
#include "objective/smooth_cuda.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::cuda {

/// Maxima that a kernel finds while it computes gradients. On the device; zero before the first kernel.
struct FoundMaxima {
  GradientMaxima so_far;  ///< zero between kernels
  std::uint32_t finished_blocks;
  GradientMaxima of_all;
};

/// Memory of objectives that need some, and of maxima.
struct ObjectiveScratch {
  explicit ObjectiveScratch(DeviceArena* device) : arena{device}, ranking{device}, cox{device}, smooth{device} {}

  DeviceArena* arena;
  DeviceBuffer<FoundMaxima> maxima;
  RankScratch ranking;
  CoxScratch cox;
  SmoothScratch smooth;
};

/// The loss for gradients of one output that have not been computed. Arrays are on the device, [rows].
struct RowLosses {
  /// An objective with a loss (VisitLoss). Its iteration and seed are 0, so that a graph recorded with it stays valid.
  ObjectiveParams objective;
  float const* margins;
  float const* labels;
  float const* weights;  ///< nullptr: all 1
  GradientPair* pairs;   ///< for all gradients, if needed; nullptr: the gradients of some rows suffice
};

/// Enqueues host::ComputeGradients. All arrays are on the device. HasScale: the scale is of the rows of all `devices`.
/// Each device passes its own rows, all at the same time. Other objectives use no other device.
///
/// Cost  One output: 16 bytes a row, 20 with weights. Fastest if every array without gaps is aligned to 16 bytes, as
///       device memory is. Several outputs: fastest with views by output (OutputMajor). Ranking: a radix sort by group
///       and label, for kRankNdcg and kRankMap another by group and margin. Ranking and kCox need `scratch`; its first
///       use allocates memory. kCox also needs `by_time`: seven kernels. HasScale needs `scratch`, too, and reads
///       margins, labels and weights three times.
/// Same  bit-equal to the host (a NaN is a NaN)
/// Returns  the maxima of the gradients, on the device, until the next call with this scratch; nullptr without scratch,
///          or if the maxima would need another pass
GradientMaxima const* ComputeGradients(ObjectiveParams const& params, TargetView const& targets,
                                       OutputView<float const> margins, OutputView<GradientPair> gradients,
                                       DeviceLimits const& limits, cudaStream_t stream,
                                       ObjectiveScratch* scratch = nullptr,
                                       DeviceCollective* devices = NoOtherDevices::Instance());

/// Enqueues host::Transform. Both arrays are on the device.
void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out,
               DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_OBJECTIVE_CUDA_H_
