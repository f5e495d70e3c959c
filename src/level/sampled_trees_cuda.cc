/// What LevelBuilder does differently when a tree is grown on a sample of the rows.
#include "core/stages.h"
#include "level/level_cuda.h"
#include "predict/predict_cuda.h"

namespace xgbgpu::cuda {

/// `room`: rows of the sample, if the tree is grown by paths; lists have room for all.
void LevelBuilder::ReserveSample(std::uint32_t room) {
  DropIfOther([&] { return sample_room_.Reserve(CopiesSample() ? room : 0, Weighted(), stream_); });
}

SampleView LevelBuilder::Sample() const {
  SampleView sample = sample_room_.View();
  sample.state = &HeaderOf(tree_memory_.data())->sample;
  if (CopiesSample()) {
    sample.records = paths_.sampled_records();
    sample.early = {paths_.narrow(), maxima_before_.data()};
    sample.paths = paths_.next_path();
  } else {
    sample.capacity = static_cast<std::uint32_t>(matrix_.view.rows);
    sample.rows = lists_[0].data();
  }
  return sample;
}

/// The sample, its gradients in fixed point, the root.
void LevelBuilder::EnqueueSample() {
  DeviceTree const tree = View();
  SampleView const sample = Sample();
  timer_.Run(kGradients, level_, [&] {
    SampleRows(gradients_, losses_ ? &*losses_ : nullptr, matrix_.view, &settings_.data()->draw, sample, tree.gradient,
               limits_, stream_);
  });
  timer_.Run(kRoot, level_, [&] {
    if (by_paths_) {
      StartSampledPaths(tree, sample, paths_.narrow(), limits_, stream_);
    } else {
      FillBytes(positions_.data(), 0xFF, positions_.size(), stream_, "clearing positions");
      ListSampledRows(tree, sample, limits_, stream_);
    }
  });
}

WalkTree LevelBuilder::WalkOfTree() const {
  return {paths_.walk(),
          NodesOf(tree_memory_.data()),
          &HeaderOf(tree_memory_.data())->state,
          shape_.ordered,
          shape_.open && enqueued_levels_ < shape_.possible_levels,
          categories_.View(),
          paths_.start(enqueued_levels_),
          paths_.start_nodes()};
}

/// Of trees by paths; sampled ones, too.
void LevelBuilder::WriteLeaves() const {
  timer_.Run(kWalk, enqueued_levels_, [&] {
    if (Sampled()) {
      FindSampledLeaves(matrix_.view, WalkOfTree(), Sample(), positions_.data(), limits_, stream_);
    } else {
      WriteLeavesOfAll(matrix_.view, WalkOfTree(), positions_.data(), limits_, stream_);
    }
  });
}

NodeIndex const* LevelBuilder::positions() const {
  if (WalksLate()) {
    WriteLeaves();
    if (IsCutLate()) RenumberPositions();
  }
  return positions_.data();
}

void LevelBuilder::AddLeafValues(float const* node_values, float* margins, std::size_t stride,
                                 DeviceLimits const& limits) const {
  if (WalksLate()) {
    if (IsCutLate()) node_values = SpreadValues(node_values);
    AddLeavesOfAll(matrix_.view, WalkOfTree(), node_values, margins, margins, stride, limits, stream_);
  } else {
    cuda::AddLeafValues(positions_.data(), matrix_.view.rows, node_values, margins, stride, limits, stream_);
  }
}

}  // namespace xgbgpu::cuda
