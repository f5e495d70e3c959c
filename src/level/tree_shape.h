/// How large a tree may become that a device grows unattended: what takes memory and launches.
#ifndef XGBGPU_LEVEL_TREE_SHAPE_H_
#define XGBGPU_LEVEL_TREE_SHAPE_H_

#include <algorithm>
#include <cstdint>

#include "level/level_policy.h"
#include "xgbgpu/params.h"

namespace xgbgpu {

/// Bounds of an unattended tree, level by level. The root is level 0.
struct TreeShape {
  int levels{0};           ///< whose nodes are split unattended; 0: such trees are attended
  int possible_levels{0};  ///< whose nodes may be split
  /// Leaves are few, and levels are enqueued as trees turn out to need them. Nodes of the tree that are split, at most:
  bool open{false};
  std::uint32_t most_splits{0};
  /// Loss-guided: the tree is cut out of the nodes that are made, by the host, …
  bool cut{false};
  /// … or, if it is open, by the device: only nodes are split that are in an order of most_splits (grow_order_ops.h).
  bool ordered{false};
  std::uint64_t most_split{0xFFFFFFFFU};  ///< nodes of one level that are split

  std::uint64_t Split(int level) const { return std::min(std::uint64_t{1} << std::min(level, 32), most_split); }
  std::uint64_t Nodes(int level) const { return level == 0 ? 1 : 2 * Split(level - 1); }
  /// Of the widest level whose nodes may be split.
  std::uint64_t WidestNodes() const { return Nodes(levels - 1); }
  /// Of the tree, if nodes of the first `n` levels are split.
  std::uint64_t NodesAfter(int n) const {
    std::uint64_t nodes = 1;
    for (int level = 0; level < n; ++level) nodes += 2 * Split(level);
    return open && !ordered ? std::min(nodes, NodesOfTree()) : nodes;
  }
  /// Of these, that the host gets.
  std::uint64_t ReturnedAfter(int n) const { return open ? std::min(NodesAfter(n), NodesOfTree()) : NodesAfter(n); }

 private:
  std::uint64_t NodesOfTree() const { return 2 * std::uint64_t{most_splits} + 1; }
};

/// Of `leaves` at most.
inline TreeShape ShapeOfOpen(TrainParams const& params, int leaves, LevelPolicy const& policy) {
  TreeShape shape;
  shape.open = true;
  shape.possible_levels = std::max(1, leaves - 1);  // a split on each
  if (params.max_depth != 0) shape.possible_levels = std::min(shape.possible_levels, params.max_depth);
  shape.levels = std::min(shape.possible_levels, policy.most_open_levels);
  shape.cut = shape.ordered = params.grow_policy == GrowPolicy::kLossGuide;
  shape.most_splits = static_cast<std::uint32_t>(leaves - 1);
  // Of a level. The nodes above one that is split are, too: m have at least m - 1 above them. Rounded up, so that there
  // are histograms for all leaves.
  shape.most_split = (static_cast<std::uint64_t>(leaves) + 1) / 2;
  return shape;
}

/// Of trees on a matrix of `rows`; every leaf has a row. Whether there is memory for it is another question.
inline TreeShape ShapeOf(TrainParams const& params, std::uint64_t rows) {
  LevelPolicy const policy;
  auto const most = static_cast<std::uint64_t>(params.max_leaves);
  int const leaves = static_cast<int>(std::min(most, std::max<std::uint64_t>(1, rows)));  // 0: any number
  bool const loss_guided = params.grow_policy == GrowPolicy::kLossGuide;
  // The features of a node depend on its number in the tree, which is not known when it is made.
  if (loss_guided && params.colsample_bynode < 1.0f) return {};
  bool const limited = params.max_depth != 0 && params.max_depth <= policy.most_levels;
  double const full = limited ? static_cast<double>(1 << params.max_depth) : 0;  // leaves
  bool const few = leaves != 0 && (!limited || 2.0 * leaves <= full);
  if (few && (!loss_guided || leaves <= policy.most_ordered_leaves)) return ShapeOfOpen(params, leaves, policy);
  if (!limited) return {};
  if (loss_guided && leaves != 0 && leaves < policy.cut_part * full) return {};
  TreeShape shape;
  shape.levels = shape.possible_levels = params.max_depth;
  shape.cut = loss_guided;
  return shape;
}

}  // namespace xgbgpu

#endif  // XGBGPU_LEVEL_TREE_SHAPE_H_
