// Reserves the memory of the search for splits on a device.
#include "split/split_workspace_cuda.h"

namespace xgbgpu::cuda {

SplitWorkspace::SplitWorkspace(DeviceMatrix const& matrix, DeviceLimits const& limits, ClearedWorkspace* workspace)
    : workspace_{workspace},
      cuts_{matrix.cuts},
      categories_{matrix, static_cast<std::uint32_t>(limits.processors * kSplitResident), workspace->arena()},
      features_{matrix.view.features, workspace->arena()} {
  whole_.list = MakeSplitGroups(matrix.view, matrix.tiles, matrix.cuts);
  whole_.array = Upload(workspace->arena(), "state", whole_.list.data(), whole_.list.size());
  if (!matrix.view.dense && whole_.list.size() > kMostReducedGroups && WarpSplitsFit(limits)) {
    warp_groups_ = MakeWarpGroups(matrix.cuts, whole_.list.size());
  }
  warp_group_array_ = Upload(workspace->arena(), "state", warp_groups_.data(), warp_groups_.size());
}

void SplitWorkspace::SetColumns(ColumnCopy const* columns) {
  columns_ = columns != nullptr ? columns->columns() : 0;
  if (columns_ == 0 || columns_ == grouped_) return;
  of_copy_.list = MakeSplitGroups(columns->view(), columns->tiles(), cuts_);
  workspace_->Reserve(&of_copy_.array, "state", of_copy_.list.size());
  CopyToDevice(of_copy_.array.data(), of_copy_.list.data(), of_copy_.list.size(), workspace_->stream(),
               "copying to the device");
  workspace_->stream().Wait("copying to the device");
  grouped_ = columns_;
}

void SplitWorkspace::Reserve(std::size_t nodes, std::size_t tree_nodes) {
  workspace_->Note([&] { return categories_.Reserve(tree_nodes, 0, workspace_->stream()); });
  workspace_->Reserve(&candidates_, "split candidates", nodes * groups().size());
}

SplitView SplitWorkspace::View(GrowingTree const& tree, DeviceMatrixView const& matrix,
                               DeviceHistograms const& histograms, SplitParams const* params,
                               GradientState const* gradient) const {
  return {tree,
          matrix,
          histograms,
          params,
          gradient,
          searched().array.data(),
          static_cast<std::uint32_t>(groups().size()),
          warp_group_array_.data(),
          columns_ == 0 ? static_cast<std::uint32_t>(warp_groups_.size()) : 0,  // a copy is dense
          candidates_.data(),
          features_.View(),
          constraints_.View(),
          categories_.View()};
}

}  // namespace xgbgpu::cuda
