/// What LevelBuilder does differently when a loss-guided tree is cut out of a larger one.
#include <algorithm>

#include "core/grid.h"
#include "level/level_cuda.h"
#include "predict/predict_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

/// The value of its leaf for every node that the device made and that has rows.
__global__ void __launch_bounds__(kThreads)
    SpreadValuesKernel(NodeIndex const* leaf_of_node, std::uint32_t nodes, float const* of_leaves, float* of_nodes) {
  for (std::uint32_t n = blockIdx.x * kThreads + threadIdx.x; n < nodes; n += gridDim.x * kThreads) {
    NodeIndex const leaf = leaf_of_node[n];
    of_nodes[n] = leaf == kNoNode ? 0.0f : of_leaves[leaf];
  }
}

}  // namespace

void LevelBuilder::ReserveCut(std::size_t nodes) {
  if (IsCutLate() || !by_paths_) ReserveCleared(&leaf_of_node_, "nodes", nodes);
  if (IsCutLate() && WalksLate()) ReserveCleared(&values_of_nodes_, "nodes", nodes);
  if (!shape_.ordered) return;
  ReserveCleared(&order_, "nodes", std::max(1U, shape_.most_splits));
  ReserveCleared(&order_places_, "nodes", nodes);
  ReserveCleared(&free_slots_, "nodes", shape_.WidestNodes());
}

/// Takes the tree out of the nodes that the device has returned: the queue finds each that it wants. The rows' leaves
/// follow. With an order the device has done it all, but for positions that lists have left on their way.
Span<Node const> LevelBuilder::TakeTree(Span<Node const> returned) {
  if (shape_.ordered) {
    if (!by_paths_) RenumberPositions();
    return returned;
  }
  constexpr std::uint32_t kNoSlots = 2;  // nothing is expanded any more
  growth_.Reset(params_, kNoSlots, false);
  growth_.Learn(returned);
  leaf_numbers_ = growth_.LeafNumbers();
  CopyToDevice(leaf_of_node_.data(), leaf_numbers_.data(), leaf_numbers_.size(), stream_, "numbering leaves");
  if (!WalksLate()) RenumberPositions();
  return growth_.tree();
}

void LevelBuilder::RenumberPositions() const {
  cuda::RenumberPositions(leaf_of_node_.data(), positions_.data(), positions_.size(), limits_, stream_);
}

float const* LevelBuilder::SpreadValues(float const* node_values) const {
  auto const nodes = static_cast<std::uint32_t>(leaf_numbers_.size());
  SpreadValuesKernel<<<Blocks(nodes, kThreads, limits_, kResident), kThreads, 0, stream_>>>(
      leaf_of_node_.data(), nodes, node_values, values_of_nodes_.data());
  CheckLaunch("numbering leaf values");
  return values_of_nodes_.data();
}

}  // namespace xgbgpu::cuda
