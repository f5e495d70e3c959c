// Reserves the memory of the search for splits on a device.
#include "split/split_workspace_cuda.h"

namespace xgbgpu::cuda {

SplitWorkspace::SplitWorkspace(DeviceMatrix const& matrix, DeviceLimits const& limits, ClearedWorkspace* workspace)
    : workspace_{workspace},
      groups_{MakeSplitGroups(matrix)},
      categories_{matrix, static_cast<std::uint32_t>(limits.processors * kSplitResident), workspace->arena()},
      features_{matrix.view.features, workspace->arena()} {
  group_array_ = Upload(workspace->arena(), "state", groups_.data(), groups_.size());
  if (!matrix.view.dense && groups_.size() > kMostReducedGroups && WarpSplitsFit(limits)) {
    warp_groups_ = MakeWarpGroups(matrix.cuts, groups_.size());
  }
  warp_group_array_ = Upload(workspace->arena(), "state", warp_groups_.data(), warp_groups_.size());
}

void SplitWorkspace::Reserve(std::size_t nodes, std::size_t tree_nodes) {
  workspace_->Note([&] { return categories_.Reserve(tree_nodes, 0, workspace_->stream()); });
  workspace_->Reserve(&candidates_, "split candidates", nodes * groups_.size());
}

SplitView SplitWorkspace::View(GrowingTree const& tree, DeviceMatrixView const& matrix,
                               DeviceHistograms const& histograms, SplitParams const* params,
                               GradientState const* gradient) const {
  return {tree,
          matrix,
          histograms,
          params,
          gradient,
          group_array_.data(),
          static_cast<std::uint32_t>(groups_.size()),
          warp_group_array_.data(),
          static_cast<std::uint32_t>(warp_groups_.size()),
          candidates_.data(),
          features_.View(),
          constraints_.View(),
          categories_.View()};
}

}  // namespace xgbgpu::cuda
