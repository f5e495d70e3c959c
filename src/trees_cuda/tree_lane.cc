// Grows one tree at a time on a stream, and adds its leaf values to margins.
#include "trees_cuda/tree_lane.h"

#include <algorithm>
#include <utility>

#include "histogram/histogram_policy.h"

namespace xgbgpu {

std::size_t HistogramBudget() {
  DeviceHistogramPolicy const policy;
  auto const free = static_cast<double>(CurrentMemory().free);
  return std::min(static_cast<std::size_t>(policy.part * free), policy.most_bytes);
}

TreeLane::TreeLane(DeviceMatrix const& matrix, cuda::PageStream* pages, cuda::ColumnLists* lists,
                   cuda::DeviceShard const& shard, DeviceArena* arena, Stream const* stream,
                   std::size_t histogram_budget)
    : matrix_{matrix},
      arena_{arena},
      own_stream_{stream == nullptr ? std::make_unique<Stream const>() : nullptr},
      stream_{stream == nullptr ? *own_stream_ : *stream},
      tree_{matrix, pages, lists, shard, arena, stream_, histogram_budget} {}

GradientPair* TreeLane::GradientBuffer() {
  Reserve(&gradient_buffer_, arena_, "gradients", matrix_.view.rows);
  return gradient_buffer_.data();
}

cuda::TreeRequest TreeLane::Request(TrainParams const& params, std::uint32_t tree_number) const {
  return {params, FeatureSampler{params, matrix_.view.features, tree_number}, tree_number};
}

void TreeLane::Begin(TrainParams const& params, cuda::DeviceGradients const& gradients, std::uint32_t tree_number,
                     cuda::SpeculativeMargins const& speculative) {
  gradients_ = gradients;
  tree_.Begin(Request(params, tree_number), gradients, speculative);
}

void TreeLane::Begin(TrainParams const& params, cuda::RowLosses const& losses,
                     std::function<cuda::DeviceGradients()> all, std::uint32_t tree_number,
                     cuda::SpeculativeMargins const& speculative) {
  gradients_ = {};
  tree_.Begin(Request(params, tree_number), losses, std::move(all), speculative);
}

void TreeLane::GrowLevels() { tree_.Grow(); }

float* TreeLane::UploadNodeValues(Span<float const> node_values) {
  uploaded_.Wait("copying leaf values");
  if (node_values_.size() < node_values.size()) {
    stream_.Wait("adding leaf values");
    host_node_values_ = PinnedBuffer<float>{2 * node_values.size()};
    node_values_ = {};
    node_values_ = {arena_, "nodes", 2 * node_values.size()};
  }
  std::copy(node_values.begin(), node_values.end(), host_node_values_.data());
  CopyToDevice(node_values_.data(), host_node_values_.data(), node_values.size(), stream_, "copying leaf values");
  uploaded_.Record(stream_);
  return node_values_.data();
}

void TreeLane::AddLeafValues(cuda::TreeLeaves const& leaves, Span<float const> node_values, float* margins,
                             std::size_t stride, DeviceLimits const& limits, Event const* order) {
  float const* const values = UploadNodeValues(node_values);
  if (order != nullptr) order->HoldUp(stream_);
  leaves.AddLeafValues(values, margins, stride, limits);
  if (order != nullptr) order->Record(stream_);
}

}  // namespace xgbgpu
