/// A tree that grows on a CUDA device, as all stages see it.
#ifndef XGBGPU_TREE_GROWING_TREE_H_
#define XGBGPU_TREE_GROWING_TREE_H_

#include <cstdint>

#include "base/hd.h"
#include "tree/family.h"
#include "tree/node.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Counts that one kernel leaves for the next.
struct LevelState {
  std::uint32_t rows;         ///< rows of the root
  GradientSum sum;            ///< sum over the rows of the root
  std::uint32_t nodes;        ///< made so far
  std::uint32_t level_first;  ///< first node of the level whose splits were found last
  std::uint32_t leaves;
  std::uint32_t families;  ///< 0: the tree has ended
  std::uint32_t move_jobs;
  std::uint32_t move_items;
  std::uint32_t sum_jobs;
  std::uint32_t sum_units;
  std::uint32_t finished_blocks;
  std::uint32_t groups;      ///< paths: row groups
  std::uint32_t path_items;  ///< paths: pieces of kPathItemRows rows of all groups; 0: the tree has ended
  std::uint32_t no_room;     ///< paths: see RowPaths::next_wide
  std::uint32_t ordered;     ///< with an order: number of nodes in it
  std::uint32_t free_slots;  ///< with an order: slots that were in use and are not
  int depth;                 ///< with an order: depth of the children of the level whose splits were found last
};

/// The tree: its nodes in the order in which they are made, the splits that are being made, and the counts. All of it
/// is on the device.
struct GrowingTree {
  Node* nodes;
  Family* families;
  LevelState* state;
};

/// The histograms of the nodes that may still be split. They are on the device.
struct DeviceHistograms {
  GradientSum* sums;  ///< [slots, cells]
  std::uint64_t cells;

  XGBGPU_HD GradientSum* slot(std::int32_t number) const { return sums + static_cast<std::uint64_t>(number) * cells; }
};

/// Upper bounds of a level, for launchers. The host knows them without asking the device.
struct LevelBounds {
  std::uint64_t families;
  std::uint32_t symbols;      ///< symbols of the largest tile
  bool keeps{true};           ///< a level may follow, whose siblings are told by subtraction from this one's histograms
  std::uint64_t siblings{0};  ///< whose histograms are summed over the rows, too, because nobody has the parent's
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_GROWING_TREE_H_
