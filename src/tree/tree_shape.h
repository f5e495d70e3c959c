/// How large a device-driven tree may become: what takes memory and launches.
#ifndef XGBGPU_TREE_TREE_SHAPE_H_
#define XGBGPU_TREE_TREE_SHAPE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace xgbgpu {

/// Bounds of a device-driven tree, level by level. The root is level 0.
struct TreeShape {
  int levels{0};           ///< levels whose nodes the device chooses; 0: the tree is host-driven
  int possible_levels{0};  ///< levels whose nodes may be split
  /// Leaves are limited to few, and levels are enqueued as trees turn out to need them.
  bool open{false};
  /// The most nodes of an open tree that are split.
  std::uint32_t most_splits{0};
  /// The tree is cut out of the nodes that are made, by the host, …
  bool cut{false};
  /// … or, if it is loss-guided and open, by the device: only nodes are split that are in an order of most_splits
  /// (grow_order_ops.h).
  bool ordered{false};
  std::uint64_t most_split{0xFFFFFFFFU};  ///< the most nodes of one level that are split

  std::uint64_t Split(int level) const { return std::min(std::uint64_t{1} << std::min(level, 32), most_split); }
  std::uint64_t Nodes(int level) const { return level == 0 ? 1 : 2 * Split(level - 1); }
  /// Returns the number of nodes of the widest level whose nodes may be split.
  std::uint64_t WidestNodes() const { return Nodes(levels - 1); }
  /// Returns the number of nodes of the tree, at most, if nodes of the first `n` levels are split.
  std::uint64_t NodesAfter(int n) const {
    std::uint64_t nodes = 1;
    for (int level = 0; level < n; ++level) nodes += 2 * Split(level);
    return open && !ordered ? std::min(nodes, NodesOfTree()) : nodes;
  }
  /// Returns how many of the nodes after `n` levels the host gets, at most.
  std::uint64_t ReturnedAfter(int n) const { return open ? std::min(NodesAfter(n), NodesOfTree()) : NodesAfter(n); }

 private:
  std::uint64_t NodesOfTree() const { return 2 * std::uint64_t{most_splits} + 1; }
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_TREE_SHAPE_H_
