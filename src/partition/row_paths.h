/// Rows that stay where they are while a tree grows: each has one byte, its path below the node at which its group
/// began. After some levels live rows are moved once into the order of their nodes, and the nodes become new groups.
/// docs/adr/0006-cuda-kernels.md
#ifndef XGBGPU_PARTITION_ROW_PATHS_H_
#define XGBGPU_PARTITION_ROW_PATHS_H_

#include <cstdint>

#include "core/fixed_point.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr std::uint8_t kDeadPath = 255;  ///< path of rows in a leaf, if they are told

/// Rows that began together at one node, side by side in the store.
struct RowGroup {
  std::uint32_t first_row;
  std::uint32_t rows;
  std::uint32_t first_item;  ///< number of its first item, of kPathItemRows rows
  float hess;                ///< about the sum over its rows
};

/// Where a node's rows are.
struct PathPlace {
  std::uint32_t group;
  std::uint32_t path;
};

/// What the rows of one path do next.
struct PathSplit {
  FeatureIndex feature;        ///< kNoFeature: the node stays a leaf
  std::uint16_t bin;           ///< first symbol that goes right
  std::uint16_t missing_left;  ///< symbol that goes left although it is not smaller, or kNoSymbol
  std::uint32_t family;        ///< | kByCategories: the split is by the set whose number's halves the two above are
};
constexpr std::uint32_t kByCategories = 0x80000000U;
constexpr FeatureIndex kNoFeature = 0xFFFFFFFFU;
constexpr std::uint16_t kNoSymbol = 0xFFFFU;

/// A node as the last walk sees it.
struct alignas(16) WalkNode {
  NodeIndex left;  ///< kNoNode: a leaf
  PathSplit split;
};

/// Rows of one path of a group that are summed; or of two paths, whose parents are siblings, in one pass over the rows.
/// Aligned for large pieces.
struct alignas(16) PathJob {
  std::uint32_t first_row;  ///< of the group
  std::uint32_t rows;       ///< of the group
  std::uint32_t path;
  std::int32_t slot;
  std::uint32_t first_unit;
  std::uint32_t spare_units;  ///< its first units, which have no rows: a block that gets here from another job is late
  std::uint32_t unit_rows;    ///< rows of the group that one unit of the others looks at
  std::uint32_t group;        ///< its number
  std::uint32_t other_path;
  std::int32_t other_slot;  ///< kNoSlot: one path only
};
constexpr std::int32_t kNoSlot = -1;
constexpr std::uint32_t kNearJobs = 32;  ///< a warp looks for its job among so many at once

/// Records and gradients in one order of rows.
struct RowStore {
  std::uint8_t const* records;
  NarrowGradient const* narrow;  ///< [rows], in use if the format is narrow
  GradientPair const* wide;      ///< [rows], in use if the format is wide
};

/// The level that is made now, and where its rows lie.
struct RowPaths {
  RowStore store;
  std::uint8_t const* path;  ///< [rows of the store] at the parents' level; nullptr: 0 everywhere
  std::uint8_t* next_path;   ///< [rows of the store] at this level
  std::uint32_t first;       ///< what the path 0 is in `path`, and all others after it; the rest are dead
  std::uint32_t next_first;  ///< what the path 0 is in `next_path`
  RowGroup* groups;
  PathSplit* splits;        ///< [groups << depth]
  std::uint32_t* counts;    ///< [groups << (depth + 1)] rows of the children, if the next level is moved
  PathPlace* places;        ///< [nodes]
  WalkNode* walk;           ///< [nodes]
  PathJob* jobs;            ///< [families, but kNearJobs at least]
  std::uint32_t unit_rows;  ///< least number of rows of one unit of the kernel that sums
  int depth;                ///< levels from a group's node down to the parents
  bool cleared;             ///< are this level's histogram slots clear before its first kernel?
  /// Number of histogram slots, if the kernel that sums this level clears those of the next; 0: it does not.
  std::uint32_t slots;
  // Where rows are moved to, if they are:
  std::uint8_t* next_records;
  NarrowGradient* next_narrow;
  GradientPair* next_wide;  ///< nullptr: there is no room; a tree of the wide format must be grown again with it
  RowGroup* next_groups;
  /// [rows] group that the first move brought each row of the matrix to; kDeadPath: none. nullptr: this is not noted
  std::uint8_t* start;
  NodeIndex* start_nodes;  ///< [groups] nodes of the groups in `start`
};

/// Where the finished tree gets its own numbers, if nodes were made in another order; those that are not asked for are
/// nullptr.
struct PathNumbers {
  WalkNode* walk;              ///< [nodes of the tree] for walks
  NodeIndex* start_nodes;      ///< [starts] if rows are moved: the tree's node at or above …
  NodeIndex const* starts_of;  ///< … each of these
  std::uint32_t starts;
};

/// Who tells rows their paths at a level: AdvancePaths, or, on the way, the kernel that sums them, for one parent at a
/// time, or for two if they are siblings.
enum class PathSums { kTold, kDivide, kPairs };

/// What follows a level, known to the host when it enqueues the level.
struct PathStep {
  bool move;      ///< the next level is moved: rows of this one's nodes are counted
  bool count;     ///< rows of the next level's nodes will be counted: its counts are cleared
  PathSums sums;  ///< how rows are told their paths at the next level
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_ROW_PATHS_H_
