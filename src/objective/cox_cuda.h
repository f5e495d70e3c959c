/// survival:cox on a CUDA device, and rows in order of time, for it and for cox-nloglik.
#ifndef XGBGPU_OBJECTIVE_COX_CUDA_H_
#define XGBGPU_OBJECTIVE_COX_CUDA_H_

#include "cuda/device.h"
#include "objective/cox_ops.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::cuda {

/// A TimeOrder and its memory: 8 bytes a row.
struct SortedTimes {
  DeviceBuffer<std::uint32_t> rows, first;

  TimeOrder view() const { return {rows.data(), first.data()}; }
};

/// Does what host::SortTimes does, with labels on the device, and waits. Cost: a radix sort, which takes memory of 12
/// bytes a row meanwhile.
SortedTimes SortTimes(float const* labels, std::uint64_t rows, DeviceArena* arena, DeviceLimits const& limits,
                      Stream const& stream);

/// Memory of survival:cox, kept from one round to the next: 16 bytes a row, nothing that later calls read. `arena` must
/// outlive it.
struct CoxScratch {
  explicit CoxScratch(DeviceArena* owner) : arena{owner} {}

  DeviceArena* arena;
  DeviceBuffer<double> powers, at_risk;
  DeviceBuffer<CoxSums> before;          ///< sums of blocks
  DeviceBuffer<std::uint32_t> largest;   ///< key of the largest margin
  DeviceBuffer<std::uint32_t> finished;  ///< counts blocks
};

/// Does what cuda::ComputeGradients does, for survival:cox.
void ComputeCoxGradients(TargetView const& targets, OutputView<float const> margins, OutputView<GradientPair> gradients,
                         CoxScratch* scratch, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_COX_CUDA_H_
