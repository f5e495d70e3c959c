// Walks rows to the leaves of a finished tree, and renumbers the nodes that rows are in.
#include <utility>

#include "base/stages.h"
#include "cuda/grid.h"
#include "trees_cuda/list_positions_cuda.h"
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
      speculative.to != nullptr && parts_.rows.by_paths() && parts_.rows.in_core() && !IsCutLate() && !device_.timed();
  std::size_t const nodes = shape.NodesAfter(shape.levels);
  if (margins_are_speculative_) device_.workspace.Reserve(&leaf_values_, "nodes", shape.ReturnedAfter(shape.levels));
  if (shape.cut && (IsCutLate() || !parts_.rows.by_paths())) device_.workspace.Reserve(&leaf_of_node_, "nodes", nodes);
  if (IsCutLate() && WalksLate()) device_.workspace.Reserve(&values_of_nodes_, "nodes", nodes);
}

void TreeLeaves::BeginHostDriven() {
  shape_ = {};
  margins_are_speculative_ = false;
}

TreeNumbers TreeLeaves::Numbers() const {
  if (parts_.rows.by_paths()) return {parts_.rows.paths().Numbers(), nullptr};
  return {{}, leaf_of_node_.data()};
}

WalkTree TreeLeaves::Walk() const {
  return {parts_.rows.paths().walk(),
          parts_.memory.nodes(),
          &parts_.memory.header()->state,
          shape_.ordered,
          shape_.open && levels_ < shape_.possible_levels,
          parts_.splits.Categories(),
          parts_.rows.paths().start(levels_),
          parts_.rows.paths().start_nodes()};
}

void TreeLeaves::EnqueueWalk(int levels) {
  levels_ = levels;
  if (margins_are_speculative_) {
    parts_.rows.walked_pages().ForEach([&](Page<DeviceMatrixView> const& page) {  // one, in core
      AddLeavesOfAll(page.matrix, Walk(), leaf_values_.data(), speculative_.from, speculative_.to, 1, device_.limits,
                     device_.stream);
    });
  } else if (parts_.rows.by_paths() && !WalksLate()) {
    WriteLeaves();
  }
}

/// Writes the leaf of every row, for trees by paths.
void TreeLeaves::WriteLeaves() const {
  device_.timer.Run(kWalk, levels_, [&] {
    NodeIndex* const positions = parts_.rows.positions().data();
    if (parts_.request.sampled()) {
      parts_.rows.pages_of_all().ForEach([&](Page<DeviceMatrixView> const& page) {
        WriteComplementsOfAll(page.matrix, Walk(), positions + page.first_row, device_.limits, device_.stream);
      });
      MarkSampled(parts_.rows.Sample(), positions, device_.limits, device_.stream);
    } else {
      parts_.rows.walked_pages().ForEach([&](Page<DeviceMatrixView> const& page) {
        WriteLeavesOfAll(page.matrix, Walk(), positions + page.first_row, device_.limits, device_.stream);
      });
    }
  });
}

void TreeLeaves::FindUncopied() const {
  if (!parts_.rows.copies_sample() || parts_.rows.by_paths()) return;
  NodeIndex* const positions = parts_.rows.positions().data();
  device_.timer.Run(kWalk, levels_, [&] {
    FillBytes(positions, 0xFF, parts_.rows.positions().size(), device_.stream, "clearing positions");
    parts_.rows.pages_of_all().ForEach([&](Page<DeviceMatrixView> const& page) {
      FindLeaves(page.matrix, parts_.memory.nodes(), parts_.splits.Categories(), positions + page.first_row,
                 device_.limits, device_.stream);
    });
    MarkSampled(parts_.rows.Sample(), positions, device_.limits, device_.stream);
  });
}

Span<Node const> TreeLeaves::TakeTree(Span<Node const> returned) {
  if (!shape_.cut) return returned;
  if (shape_.ordered) {  // the device has done it all, but for positions that lists have left on their way
    if (!parts_.rows.by_paths()) Renumber();
    return returned;
  }
  constexpr std::uint32_t kNoSlots = 2;  // nothing is expanded any more
  cut_.Reset(parts_.request.params, kNoSlots, false);
  cut_.Learn(returned);
  Cut(cut_.LeafNumbers());
  return cut_.tree();
}

void TreeLeaves::Cut(std::vector<NodeIndex> leaf) {
  if (!shape_.cut) return;
  leaf_numbers_ = std::move(leaf);
  CopyToDevice(leaf_of_node_.data(), leaf_numbers_.data(), leaf_numbers_.size(), device_.stream, "numbering leaves");
  if (!WalksLate()) Renumber();
}

void TreeLeaves::FindUnsampled(Node const* nodes) const {
  if (!parts_.rows.HasUnsampled()) return;
  FindLeaves(parts_.matrix.view, nodes, parts_.splits.Categories(), parts_.rows.positions().data(), device_.limits,
             device_.stream);
}

void TreeLeaves::FindHostDriven(Span<Node const> made, std::vector<NodeIndex> const& leaf, Span<Node const> tree) {
  if (parts_.rows.in_pages()) {  // rows know the nodes that they are in
    RenumberNodes(leaf);
    return;
  }
  WriteListPositions(&parts_, made, leaf);
  if (parts_.rows.HasUnsampled()) {
    device_.workspace.Reserve(&tree_nodes_, "nodes", tree.size());
    CopyToDevice(tree_nodes_.data(), tree.data(), tree.size(), device_.stream, "writing positions");
    FindUnsampled(tree_nodes_.data());
  }
  device_.stream.Wait("writing positions");  // the sources of the copies may change from here on
}

void TreeLeaves::RenumberNodes(std::vector<NodeIndex> const& leaf) {
  device_.workspace.Reserve(&leaf_of_node_, "nodes", leaf.size());
  CopyToDevice(leaf_of_node_.data(), leaf.data(), leaf.size(), device_.stream, "numbering leaves");
  Renumber();
  device_.stream.Wait("numbering leaves");  // the source of the copy may change from here on
}

void TreeLeaves::Renumber() const {
  RenumberPositions(leaf_of_node_.data(), parts_.rows.positions().data(), parts_.rows.positions().size(),
                    device_.limits, device_.stream);
}

float const* TreeLeaves::SpreadValues(float const* node_values) const {
  auto const nodes = static_cast<std::uint32_t>(leaf_numbers_.size());
  SpreadValuesKernel<<<Blocks(nodes, kThreads, device_.limits, kResident), kThreads, 0, device_.stream>>>(
      leaf_of_node_.data(), nodes, node_values, values_of_nodes_.data());
  CheckLaunch("numbering leaf values");
  return values_of_nodes_.data();
}

NodeIndex const* TreeLeaves::positions() const {
  if (WalksLate()) {
    WriteLeaves();
    if (IsCutLate()) Renumber();
  }
  return parts_.rows.positions().data();
}

void TreeLeaves::AddLeafValues(float const* node_values, float* margins, std::size_t stride,
                               DeviceLimits const& limits) const {
  if (WalksLate()) {
    if (IsCutLate()) node_values = SpreadValues(node_values);
    parts_.rows.walked_pages().ForEach([&](Page<DeviceMatrixView> const& page) {
      float* const of_page = margins + page.first_row * stride;
      AddLeavesOfAll(page.matrix, Walk(), node_values, of_page, of_page, stride, limits, device_.stream);
    });
  } else {
    cuda::AddLeafValues(parts_.rows.positions().data(), parts_.matrix.view.rows, node_values, margins, stride, limits,
                        device_.stream);
  }
}

}  // namespace xgbgpu::cuda
