/// Tuning numbers of growth on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_GROWTH_GROWTH_POLICY_H_
#define XGBGPU_GROWTH_GROWTH_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct GrowthPolicy {
  /// Levels of a device-driven tree at most: a level costs three launches even if it is empty.
  int most_levels{16};
  /// Most leaves of a loss-guided tree that is device-driven with an order (grow_order_ops.h). One block keeps the
  /// order. At a few hundred leaves this takes as long as the other kernels of a level.
  int most_ordered_leaves{1024};
  /// Most levels of open trees (TreeShape::open): trees with an order, and depth-wise trees of few leaves. A deeper
  /// tree, and all trees after it, are host-driven.
  int most_open_levels{40};
  /// Most levels of an open tree that are enqueued at once.
  int most_enqueued_levels{24};
  /// Levels of the first tree beyond the depth of a balanced tree.
  int more_than_balanced{6};
  /// Levels that are added when a tree turns out deeper, and taken away after `shallow_trees` trees without need of
  /// them.
  int more_levels{4};
  /// Number of consecutive shallower trees before levels are taken away.
  int shallow_trees{32};
  /// Without an order all nodes to a limit of depth are made, if the tree may have at least this part of the leaves.
  double cut_part{0.25};
  /// Histograms that host-driven growth keeps for nodes that wait, if memory allows.
  std::uint32_t host_driven_slots{1024};
  /// The most families of one host-driven batch.
  std::size_t host_driven_batch{512};
};

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_GROWTH_POLICY_H_
