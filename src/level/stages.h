/// Names of the stages of a tree, for timelines and profilers.
#ifndef XGBGPU_LEVEL_STAGES_H_
#define XGBGPU_LEVEL_STAGES_H_

namespace xgbgpu::cuda {

inline constexpr char kGradients[] = "gradients";
inline constexpr char kRoot[] = "root rows";
inline constexpr char kMove[] = "partition";
inline constexpr char kSum[] = "histograms";
inline constexpr char kSplit[] = "splits";
inline constexpr char kWalk[] = "leaves";

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_LEVEL_STAGES_H_
