/// A growing tree on a CUDA device, as all stages see it.
#ifndef XGBGPU_TREE_GROWING_TREE_H_
#define XGBGPU_TREE_GROWING_TREE_H_

#include <cstdint>

#include "base/hd.h"
#include "tree/family.h"
#include "tree/node.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Counts that one kernel hands to the next.
struct LevelState {
  std::uint32_t rows;         ///< rows of the root
  GradientSum sum;            ///< sum over the rows of the root
  std::uint32_t nodes;        ///< nodes so far
  std::uint32_t level_first;  ///< first node of the level that was searched last
  std::uint32_t leaves;
  std::uint32_t families;  ///< 0: the tree has ended
  std::uint32_t move_jobs;
  std::uint32_t move_items;
  std::uint32_t sum_jobs;
  std::uint32_t sum_units;
  std::uint32_t finished_blocks;
  std::uint32_t groups;      ///< paths: number of row groups
  std::uint32_t path_items;  ///< paths: number of pieces of kPathItemRows rows of all groups; 0: the tree has ended
  std::uint32_t no_room;     ///< paths: see RowPaths::next_wide
  std::uint32_t ordered;     ///< with an order: number of nodes in it
  std::uint32_t free_slots;  ///< with an order: number of slots freed so far
  int depth;                 ///< with an order: depth of the children of the level that was searched last
};

/// A growing tree: nodes in the order of their making, splits in progress, counts. All arrays are on the device.
struct GrowingTree {
  Node* nodes;
  Family* families;
  LevelState* state;
};

/// The histograms of the nodes that may still be split. On the device.
struct DeviceHistograms {
  GradientSum* sums;  ///< [slots, cells]
  std::uint64_t cells;

  XGBGPU_HD GradientSum* slot(std::int32_t number) const { return sums + static_cast<std::uint64_t>(number) * cells; }
};

/// Upper bounds of a level, for launches. The host knows them without a copy from the device.
struct LevelBounds {
  std::uint64_t families;
  std::uint32_t symbols;      ///< symbols of the largest tile
  bool keeps{true};           ///< the next level may subtract siblings from this level's histograms
  std::uint64_t siblings{0};  ///< siblings that are summed over rows, because their parents' histograms are gone
  /// The tree is grown again after DeviceCollective::SumsOverflowed, and has memory for the most nodes of wrong sums.
  bool may_overflow{false};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_GROWING_TREE_H_
