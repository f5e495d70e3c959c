/// Names of the stages of a tree, for timelines and profilers.
#ifndef XGBGPU_LEVEL_STAGES_H_
#define XGBGPU_LEVEL_STAGES_H_

namespace xgbgpu::cuda {

constexpr char const* kGradients = "gradients";
constexpr char const* kRoot = "root rows";
constexpr char const* kMove = "partition";
constexpr char const* kSum = "histograms";
constexpr char const* kSplit = "splits";
constexpr char const* kWalk = "leaves";

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_LEVEL_STAGES_H_
