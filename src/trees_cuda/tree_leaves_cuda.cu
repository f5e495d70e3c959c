#include <utility>

#include "core/stages.h"
#include "cuda/grid.h"
#include "trees_cuda/tree_leaves_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

/// Writes, for every node that the device made and that has rows, the value of its leaf.
__global__ void __launch_bounds__(kThreads)
    SpreadValuesKernel(NodeIndex const* leaf_of_node, std::uint32_t nodes, float const* of_leaves, float* of_nodes) {
  for (std::uint32_t n = blockIdx.x * kThreads + threadIdx.x; n < nodes; n += gridDim.x * kThreads) {
    NodeIndex const leaf = leaf_of_node[n];
    of_nodes[n] = leaf == kNoNode ? 0.0f : of_leaves[leaf];
  }
}

}  // namespace

void TreeLeaves::BeginDeviceDriven(TreeShape const& shape, SpeculativeMargins const& speculative) {
  shape_ = shape;
  speculative_ = speculative;
  // With a timeline no margins are speculative, so that stages are timed one by one.
  margins_are_speculative_ =
      speculative.to != nullptr && parts_.by_paths && !IsCutLate() && !parts_.timed() && !parts_.page_stream;
  std::size_t const nodes = shape.NodesAfter(shape.levels);
  if (margins_are_speculative_) parts_.workspace.Reserve(&leaf_values_, "nodes", shape.ReturnedAfter(shape.levels));
  if (shape.cut && (IsCutLate() || !parts_.by_paths)) parts_.workspace.Reserve(&leaf_of_node_, "nodes", nodes);
  if (IsCutLate() && WalksLate()) parts_.workspace.Reserve(&values_of_nodes_, "nodes", nodes);
}

void TreeLeaves::BeginHostDriven() {
  shape_ = {};
  margins_are_speculative_ = false;
}

TreeNumbers TreeLeaves::Numbers() const {
  if (parts_.by_paths) return {parts_.paths.Numbers(), nullptr};
  return {{}, leaf_of_node_.data()};
}

WalkTree TreeLeaves::Walk() const {
  return {parts_.paths.walk(),
          parts_.memory.nodes(),
          &parts_.memory.header()->state,
          shape_.ordered,
          shape_.open && levels_ < shape_.possible_levels,
          parts_.splits.categories().View(),
          parts_.paths.start(levels_),
          parts_.paths.start_nodes()};
}

void TreeLeaves::EnqueueWalk(int levels) {
  levels_ = levels;
  if (margins_are_speculative_) {
    AddLeavesOfAll(parts_.matrix.view, Walk(), leaf_values_.data(), speculative_.from, speculative_.to, 1,
                   parts_.limits, parts_.stream);
  } else if (parts_.by_paths && !parts_.sampled()) {
    WriteLeaves();
  }
}

/// Writes the leaf of every row, for trees by paths.
void TreeLeaves::WriteLeaves() const {
  parts_.timer.Run(kWalk, levels_, [&] {
    NodeIndex* const positions = parts_.positions.data();
    if (parts_.sampled()) {
      parts_.pages_of_all().ForEach([&](Page<DeviceMatrixView> const& page) {
        WriteComplementsOfAll(page.matrix, Walk(), positions + page.first_row, parts_.limits, parts_.stream);
      });
      MarkSampled(parts_.Sample(), positions, parts_.limits, parts_.stream);
    } else {
      WriteLeavesOfAll(parts_.matrix.view, Walk(), positions, parts_.limits, parts_.stream);
    }
  });
}

void TreeLeaves::FindUncopied() const {
  if (!parts_.copies_sample || parts_.by_paths) return;
  NodeIndex* const positions = parts_.positions.data();
  parts_.timer.Run(kWalk, levels_, [&] {
    FillBytes(positions, 0xFF, parts_.positions.size(), parts_.stream, "clearing positions");
    parts_.pages_of_all().ForEach([&](Page<DeviceMatrixView> const& page) {
      FindLeaves(page.matrix, parts_.memory.nodes(), parts_.splits.categories().View(), positions + page.first_row,
                 parts_.limits, parts_.stream);
    });
    MarkSampled(parts_.Sample(), positions, parts_.limits, parts_.stream);
  });
}

Span<Node const> TreeLeaves::TakeTree(Span<Node const> returned) {
  if (!shape_.cut) return returned;
  if (shape_.ordered) {  // the device has done it all, but for positions that lists have left on their way
    if (!parts_.by_paths) Renumber();
    return returned;
  }
  constexpr std::uint32_t kNoSlots = 2;  // nothing is expanded any more
  cut_.Reset(parts_.params, kNoSlots, false);
  cut_.Learn(returned);
  Cut(cut_.LeafNumbers());
  return cut_.tree();
}

void TreeLeaves::Cut(std::vector<NodeIndex> leaf) {
  if (!shape_.cut) return;
  leaf_numbers_ = std::move(leaf);
  CopyToDevice(leaf_of_node_.data(), leaf_numbers_.data(), leaf_numbers_.size(), parts_.stream, "numbering leaves");
  if (!WalksLate()) Renumber();
}

void TreeLeaves::RenumberNodes(std::vector<NodeIndex> const& leaf) {
  parts_.workspace.Reserve(&leaf_of_node_, "nodes", leaf.size());
  CopyToDevice(leaf_of_node_.data(), leaf.data(), leaf.size(), parts_.stream, "numbering leaves");
  Renumber();
  parts_.stream.Wait("numbering leaves");  // the source of the copy may change from here on
}

void TreeLeaves::FindUnsampled(Node const* nodes) const {
  if (!parts_.sampled() || parts_.copies_sample) return;
  FindLeaves(parts_.matrix.view, nodes, parts_.splits.categories().View(), parts_.positions.data(), parts_.limits,
             parts_.stream);
}

void TreeLeaves::Renumber() const {
  RenumberPositions(leaf_of_node_.data(), parts_.positions.data(), parts_.positions.size(), parts_.limits,
                    parts_.stream);
}

float const* TreeLeaves::SpreadValues(float const* node_values) const {
  auto const nodes = static_cast<std::uint32_t>(leaf_numbers_.size());
  SpreadValuesKernel<<<Blocks(nodes, kThreads, parts_.limits, kResident), kThreads, 0, parts_.stream>>>(
      leaf_of_node_.data(), nodes, node_values, values_of_nodes_.data());
  CheckLaunch("numbering leaf values");
  return values_of_nodes_.data();
}

NodeIndex const* TreeLeaves::positions() const {
  if (WalksLate()) {
    WriteLeaves();
    if (IsCutLate()) Renumber();
  }
  return parts_.positions.data();
}

void TreeLeaves::AddLeafValues(float const* node_values, float* margins, std::size_t stride,
                               DeviceLimits const& limits) const {
  if (WalksLate()) {
    if (IsCutLate()) node_values = SpreadValues(node_values);
    parts_.pages_of_all().ForEach([&](Page<DeviceMatrixView> const& page) {
      float* const of_page = margins + page.first_row * stride;
      AddLeavesOfAll(page.matrix, Walk(), node_values, of_page, of_page, stride, limits, parts_.stream);
    });
  } else {
    cuda::AddLeafValues(parts_.positions.data(), parts_.matrix.view.rows, node_values, margins, stride, limits,
                        parts_.stream);
  }
}

}  // namespace xgbgpu::cuda
