/// Gradients of the ranking objectives on a CUDA device: cuda::ComputeGradients for ranking.
#ifndef XGBGPU_OBJECTIVE_RANK_CUDA_H_
#define XGBGPU_OBJECTIVE_RANK_CUDA_H_

#include "cuda/device.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::cuda {

/// Memory of ranking, reused in every round: 64 bytes a row, with biases 80, 8 bytes for each row of the largest group,
/// 24 a group, and the scratch of the sort. Later calls do not read its contents. `arena` must outlive it.
struct RankScratch {
  explicit RankScratch(DeviceArena* owner) : arena{owner} {}

  DeviceArena* arena;
  std::uint32_t largest_group{0};  ///< the most rows of a group of the targets; 0: not known, which is slower
  DeviceBuffer<std::uint64_t> keys[2];
  DeviceBuffer<std::uint32_t> order[2];
  DeviceBuffer<std::uint32_t> group_of, label_keys, by_label, by_margin, places, hits;
  DeviceBuffer<std::int64_t> sums;   ///< gradient and hessian of each row, in RankSum's form
  DeviceBuffer<std::int64_t> ideal;  ///< ideal DCG of each group, in its unit (GainShift)
  DeviceBuffer<double> weight_sum;
  DeviceBuffer<std::int64_t> totals;   ///< LambdaRank's PairTotal of each group
  DeviceBuffer<double> discounts;      ///< of each place of the largest group
  DeviceBuffer<double> inverse_ideal;  ///< of each group: LambdaRank's NdcgPairs has it
  DeviceBuffer<float> biases;          ///< of [positions] the rows with the larger label of a pair, then of the others
  DeviceBuffer<std::int64_t> row_losses;  ///< [rows × 2] UnbiasedSum's
  DeviceBuffer<std::int64_t> losses;      ///< [positions × kLossesOfPosition]
  DeviceBuffer<char> sort;
};

void ComputeRankGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          OutputView<GradientPair> gradients, RankScratch* scratch, DeviceLimits const& limits,
                          cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_RANK_CUDA_H_
