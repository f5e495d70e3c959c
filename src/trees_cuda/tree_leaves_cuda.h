/// The leaf of each row of a finished tree, and the margins behind it.
#ifndef XGBGPU_TREES_CUDA_TREE_LEAVES_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_LEAVES_CUDA_H_

#include <cstddef>
#include <tuple>
#include <vector>

#include "growth/batch_growth.h"
#include "predict/predict_cuda.h"
#include "predict/walk_cuda.h"
#include "tree/tree_shape.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// Rows in lists write their positions while the tree grows. Rows by paths walk through the finished tree: before the
/// host has seen it, if their margins are speculative, or when their leaves are asked for. If rows of a sample are
/// copied to lists, all rows walk when the tree is finished.
class TreeLeaves {
 public:
  explicit TreeLeaves(TreeParts* parts) : parts_{*parts}, device_{parts->device} {}

  /// The next tree is device-driven, of this shape. The margins of its rows go to `speculative`, if that has an array
  /// and they can.
  void BeginDeviceDriven(TreeShape const& shape, SpeculativeMargins const& speculative);
  /// The next tree is host-driven: its rows are in lists, and their positions are final when it is finished.
  void BeginHostDriven();

  /// Tells whether SpeculativeMargins::to are the margins after the finished tree.
  bool margins_are_speculative() const { return margins_are_speculative_; }
  /// [nodes] on the device: the leaf values that speculative margins add. Null if no margins are speculative.
  float* leaf_values() const { return margins_are_speculative_ ? leaf_values_.data() : nullptr; }
  /// Tells whether leaves are written only on request. They may never be written: margins are advanced on the way.
  bool WalksLate() const {
    TreeRows const& rows = parts_.rows;
    return rows.by_paths() && (rows.copies_sample() || !rows.in_core() || margins_are_speculative_);
  }
  /// Returns where nodes get their numbers in the tree, if there is an order.
  TreeNumbers Numbers() const;

  /// Enqueues the walk of the rows that can walk now, behind the first `levels` levels of a device-driven tree.
  void EnqueueWalk(int levels);
  /// If the tree was grown in lists of copied rows, enqueues the walk of all rows through the nodes as they were made.
  /// Copied rows have written positions by their places in the copy. Call it behind a finished device-driven tree,
  /// before the tree is cut out.
  void FindUncopied() const;
  /// Returns the nodes of the tree. The host cuts a loss-guided tree out of the nodes that the device has `returned`,
  /// unless the device has done so. Positions follow.
  Span<Node const> TakeTree(Span<Node const> returned);
  /// The host has cut the tree out of the nodes that the device made, if its shape says so. `leaf`: see
  /// BatchGrowth::LeafNumbers. Positions follow.
  void Cut(std::vector<NodeIndex> leaf);
  /// Enqueues the walk of the rows outside the sample through `nodes`, on the device. Call it behind the growth of a
  /// tree with rows in lists.
  void FindUnsampled(Node const* nodes) const;

  /// Finds the leaves of all rows, behind the growth of a host-driven tree. `made`: the nodes as the device made them.
  /// `leaf`: see BatchGrowth::LeafNumbers. `tree`: the nodes of the finished tree. Waits.
  void FindHostDriven(Span<Node const> made, std::vector<NodeIndex> const& leaf, Span<Node const> tree);

  /// Returns [rows] on the device: the leaf of every row in the finished tree, or its complement for rows outside the
  /// sample. Enqueued.
  NodeIndex const* positions() const;
  /// margins[i · stride] += node_values[leaf of row i in the finished tree]; both on the device. Enqueued, fitted to
  /// `limits`.
  void AddLeafValues(float const* node_values, float* margins, std::size_t stride, DeviceLimits const& limits) const;

  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const { return std::tuple{margins_are_speculative_}; }

 private:
  /// Tells whether the host cuts the tree out. Walks and positions then have the numbers of nodes as they were made.
  bool IsCutLate() const { return shape_.cut && !shape_.ordered; }
  WalkTree Walk() const;
  void WriteLeaves() const;
  void RenumberNodes(std::vector<NodeIndex> const& leaf);
  void Renumber() const;
  float const* SpreadValues(float const* node_values) const;

  TreeParts& parts_;
  TreeDevice& device_;
  TreeShape shape_;  ///< a shape without levels: the tree is host-driven
  SpeculativeMargins speculative_;
  bool margins_are_speculative_{false};
  int levels_{0};  ///< number of levels that are enqueued
  BatchGrowth cut_;
  std::vector<NodeIndex> leaf_numbers_;   ///< IsCutLate: see BatchGrowth::LeafNumbers
  DeviceBuffer<float> leaf_values_;       ///< if margins are speculative
  DeviceBuffer<NodeIndex> leaf_of_node_;  ///< leaf_numbers_, or TreeNumbers::leaf_of_node
  DeviceBuffer<float> values_of_nodes_;   ///< IsCutLate and WalksLate
  DeviceBuffer<Node> tree_nodes_;         ///< a host-driven tree, for rows outside the sample
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_LEAVES_CUDA_H_
