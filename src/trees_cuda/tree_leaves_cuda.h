/// Which leaf each row of a finished tree is in, and what the leaf adds to its margin.
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

/// Rows in lists leave their positions on the way. Rows by paths walk through the finished tree: before the host has
/// seen it, if their margins are speculative, or when somebody asks. If rows of a sample are copied to lists, all walk
/// when the tree is finished.
class TreeLeaves {
 public:
  explicit TreeLeaves(TreeParts* parts) : parts_{*parts}, device_{parts->device} {}

  /// The next tree is device-driven, of this shape; its rows' margins go to `speculative`, if it says where and they
  /// can.
  void BeginDeviceDriven(TreeShape const& shape, SpeculativeMargins const& speculative);
  /// The next tree is host-driven: its rows are in lists, and their positions are final when it is finished.
  void BeginHostDriven();

  /// Are SpeculativeMargins::to the margins after the finished tree?
  bool margins_are_speculative() const { return margins_are_speculative_; }
  /// [nodes] on the device, or nullptr: what leaves add, for speculative margins.
  float* leaf_values() const { return margins_are_speculative_ ? leaf_values_.data() : nullptr; }
  /// Where nodes get their numbers in the tree, if there is an order.
  TreeNumbers Numbers() const;

  /// Behind the first `levels` levels of a device-driven tree: rows walk that can do so now. Enqueued.
  void EnqueueWalk(int levels);
  /// Behind a device-driven tree that is finished, and before it is cut out: all rows walk through its nodes as they
  /// were made, if the tree was grown in lists of copied rows. These have left their positions by their places in the
  /// copy. Enqueued.
  void FindUncopied() const;
  /// The nodes of a loss-guided tree that the device has `returned`, cut out of those that it made where it has not
  /// done so. Positions follow.
  Span<Node const> TakeTree(Span<Node const> returned);
  /// The tree has been cut out of the nodes that the device made, if its shape says so. `leaf`: see
  /// BatchGrowth::LeafNumbers. Positions follow.
  void Cut(std::vector<NodeIndex> leaf);
  /// Behind the growth of a tree whose rows are in lists: rows outside the sample walk through `nodes`, which are on
  /// the device. Enqueued.
  void FindUnsampled(Node const* nodes) const;

  /// Behind the growth of a host-driven tree: finds the leaves of all rows. `made`: the nodes as the device made them.
  /// `leaf`: see BatchGrowth::LeafNumbers. `tree`: the nodes of the finished tree. Waits.
  void FindHostDriven(Span<Node const> made, std::vector<NodeIndex> const& leaf, Span<Node const> tree);

  /// Returns [rows] on the device: the leaf of every row in the finished tree, or its complement for rows outside the
  /// sample. Enqueued.
  NodeIndex const* positions() const;
  /// margins[i · stride] += node_values[leaf of row i in the finished tree]; both on the device. Enqueued, fitted to
  /// `limits`.
  void AddLeafValues(float const* node_values, float* margins, std::size_t stride, DeviceLimits const& limits) const;

  /// Returns what a recorded tree depends on.
  auto RecordingKey() const { return std::tuple{margins_are_speculative_}; }

 private:
  /// Tells whether the host cuts the tree out, so that walks and positions have the numbers of nodes as they were made.
  bool IsCutLate() const { return shape_.cut && !shape_.ordered; }
  /// Tells whether leaves are written when they are asked for. They may never be: margins are advanced on the way.
  bool WalksLate() const { return parts_.rows.by_paths() && (parts_.rows.copies_sample() || margins_are_speculative_); }
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
