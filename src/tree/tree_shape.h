/// Bounds of a tree in device-driven growth: they decide memory and launches.
#ifndef XGBGPU_TREE_TREE_SHAPE_H_
#define XGBGPU_TREE_TREE_SHAPE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace xgbgpu {

/// Bounds of a device-driven tree, level by level. The root is level 0.
struct TreeShape {
  int levels{0};           ///< levels whose nodes are split device-driven; 0: trees grow host-driven
  int possible_levels{0};  ///< levels whose nodes may be split
  /// The number of leaves is limited, and levels are enqueued as earlier trees needed them.
  bool open{false};
  /// Most splits of an open tree.
  std::uint32_t most_splits{0};
  /// The host cuts the tree out of the nodes that are made, …
  bool cut{false};
  /// … or, for an open loss-guided tree, the device: it splits only nodes in an order of most_splits
  /// (grow_order_ops.h).
  bool ordered{false};
  std::uint64_t most_split{0xFFFFFFFFU};  ///< most splits of one level

  std::uint64_t Split(int level) const { return std::min(std::uint64_t{1} << std::min(level, 32), most_split); }
  std::uint64_t Nodes(int level) const { return level == 0 ? 1 : 2 * Split(level - 1); }
  /// Returns the number of nodes of the widest level whose nodes may be split.
  std::uint64_t WidestNodes() const { return Nodes(levels - 1); }
  /// Returns the most nodes of the tree if nodes of the first `n` levels are split.
  std::uint64_t NodesAfter(int n) const {
    std::uint64_t nodes = 1;
    for (int level = 0; level < n; ++level) nodes += 2 * Split(level);
    return open && !ordered ? std::min(nodes, NodesOfTree()) : nodes;
  }
  /// Returns the most nodes that the host gets after `n` levels.
  std::uint64_t ReturnedAfter(int n) const { return open ? std::min(NodesAfter(n), NodesOfTree()) : NodesAfter(n); }

 private:
  std::uint64_t NodesOfTree() const { return 2 * std::uint64_t{most_splits} + 1; }
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_TREE_SHAPE_H_
