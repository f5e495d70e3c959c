/// The scales of smooth losses on a CUDA device.
#ifndef XGBGPU_OBJECTIVE_SMOOTH_CUDA_H_
#define XGBGPU_OBJECTIVE_SMOOTH_CUDA_H_

#include <cstdint>

#include "collective/collective_cuda.h"
#include "cuda/device.h"
#include "objective/smooth_ops.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::cuda {

/// Memory of smooth losses, reused in every round: 24 bytes an output. Later calls do not read its contents. `arena`
/// must outlive it.
struct SmoothScratch {
  explicit SmoothScratch(DeviceArena* owner) : arena{owner} {}

  DeviceArena* arena;
  DeviceBuffer<std::uint32_t> largest;  ///< [outputs + 1] exponent of the largest term; the last is of weights
  DeviceBuffer<TermSum> sums;           ///< [outputs + 1]
  DeviceBuffer<float> scales;           ///< [outputs]

  /// Takes memory for `outputs` outputs.
  void ReserveFor(std::uint32_t outputs);
};

/// Enqueues host::ScalesOfLoss for the rows of all `devices`. Each device passes its own rows, all at the same time.
/// Returns [outputs] scales on the device, valid until the next call with this scratch.
/// Throws  InvalidArgument if scratch is nullptr
float const* ScalesOfLoss(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          SmoothScratch* scratch, DeviceLimits const& limits, cudaStream_t stream,
                          DeviceCollective* devices);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_SMOOTH_CUDA_H_
