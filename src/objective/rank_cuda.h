/// Gradients of the ranking objectives on a CUDA device: cuda::ComputeGradients for ranking.
#ifndef XGBGPU_OBJECTIVE_RANK_CUDA_H_
#define XGBGPU_OBJECTIVE_RANK_CUDA_H_

#include "cuda/device.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::cuda {

/// Memory of ranking, reused in every round: 60 bytes a row and the scratch of the sort. Later calls do not read its
/// contents. `arena` must outlive it.
struct RankScratch {
  explicit RankScratch(DeviceArena* owner) : arena{owner} {}

  DeviceArena* arena;
  DeviceBuffer<std::uint64_t> keys[2];
  DeviceBuffer<std::uint32_t> order[2];
  DeviceBuffer<std::uint32_t> group_of, label_keys, by_label, places, hits;
  DeviceBuffer<std::int64_t> sums;   ///< gradient and hessian of each row, in RankSum's form
  DeviceBuffer<std::int64_t> ideal;  ///< ideal DCG of each group, in its unit (GainShift)
  DeviceBuffer<double> weight_sum;
  DeviceBuffer<char> sort;
};

void ComputeRankGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          OutputView<GradientPair> gradients, RankScratch* scratch, DeviceLimits const& limits,
                          cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_RANK_CUDA_H_
