/// Tuning numbers of growth on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_GROWTH_GROWTH_POLICY_H_
#define XGBGPU_GROWTH_GROWTH_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct GrowthPolicy {
  /// Levels of a device-driven tree at most: a level costs three launches even if it is empty.
  int most_levels{16};
  /// A loss-guided tree of at most so many leaves is device-driven, with an order (grow_order_ops.h): one block
  /// keeps it, and is as long about it as the other kernels of a level with some hundred leaves.
  int most_ordered_leaves{1024};
  /// Such trees, and depth-wise ones of few leaves, are open (TreeShape::open) and may have so many levels. If a tree
  /// is deeper, it and the trees to come are host-driven.
  int most_open_levels{40};
  /// The most levels of open trees that are enqueued in one go …
  int most_enqueued_levels{24};
  /// … and, of the first tree, so many more than a balanced one needs. For a tree that turns out deeper, and those to
  /// come, so many more at a time; so many fewer again after so many trees in a row that would have done with them.
  int more_than_balanced{6};
  int more_levels{4};
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
