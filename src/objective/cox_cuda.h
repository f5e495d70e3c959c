/// survival:cox on a CUDA device, and the order of rows by time, for survival:cox and cox-nloglik.
#ifndef XGBGPU_OBJECTIVE_COX_CUDA_H_
#define XGBGPU_OBJECTIVE_COX_CUDA_H_

#include "cuda/device.h"
#include "objective/cox_ops.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::cuda {

/// A TimeOrder with its memory: 8 bytes a row.
struct SortedTimes {
  DeviceBuffer<std::uint32_t> rows, first;

  TimeOrder view() const { return {rows.data(), first.data()}; }
};

/// host::SortTimes with labels on the device. Waits. Cost: a radix sort, with 12 bytes a row of scratch.
SortedTimes SortTimes(float const* labels, std::uint64_t rows, DeviceArena* arena, DeviceLimits const& limits,
                      Stream const& stream);

/// Memory of survival:cox, reused in every round: 16 bytes a row. Later calls do not read its contents. `arena` must
/// outlive it.
struct CoxScratch {
  explicit CoxScratch(DeviceArena* owner) : arena{owner} {}

  DeviceArena* arena;
  DeviceBuffer<double> powers, at_risk;
  DeviceBuffer<CoxSums> before;          ///< sums of earlier blocks
  DeviceBuffer<std::uint32_t> largest;   ///< key of the largest margin
  DeviceBuffer<std::uint32_t> finished;  ///< number of finished blocks
};

/// cuda::ComputeGradients for survival:cox.
void ComputeCoxGradients(TargetView const& targets, OutputView<float const> margins, OutputView<GradientPair> gradients,
                         CoxScratch* scratch, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_COX_CUDA_H_
