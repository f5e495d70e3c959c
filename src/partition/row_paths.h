/// Rows that keep their place while a tree grows: each has one byte, its path below the first node of its group. After
/// some levels live rows are moved once into the order of their nodes, and the nodes become new groups.
/// docs/adr/0006-cuda-kernels.md
#ifndef XGBGPU_PARTITION_ROW_PATHS_H_
#define XGBGPU_PARTITION_ROW_PATHS_H_

#include <cstdint>

#include "core/fixed_point.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr std::uint8_t kDeadPath = 255;  ///< path of rows in a leaf, where it is written

/// Rows of one node at the start of a group, contiguous in the store.
struct RowGroup {
  std::uint32_t first_row;
  std::uint32_t rows;
  std::uint32_t first_item;  ///< number of its first item of kPathItemRows rows
  float hess;                ///< approximate hessian sum of its rows
};

/// The place of a node's rows.
struct PathPlace {
  std::uint32_t group;
  std::uint32_t path;
};

/// The split of one path's rows.
struct PathSplit {
  FeatureIndex column;         ///< kNoColumn: the node stays a leaf
  std::uint16_t bin;           ///< first symbol that goes right
  std::uint16_t missing_left;  ///< symbol that goes left although it is not smaller, or kNoSymbol
  std::uint32_t family;        ///< | kByCategories: a split by a set; the two members above have its number
};
constexpr std::uint32_t kByCategories = 0x80000000U;
constexpr FeatureIndex kNoColumn = 0xFFFFFFFFU;
constexpr std::uint16_t kNoSymbol = 0xFFFFU;

/// A node for the last walk.
struct alignas(16) WalkNode {
  NodeIndex left;  ///< kNoNode: a leaf
  PathSplit split;
};

/// Rows of one path of a group to sum, or of two paths with sibling parents in one pass over the rows. Aligned for
/// copies in large pieces.
struct alignas(16) PathJob {
  std::uint32_t first_row;  ///< of the group
  std::uint32_t rows;       ///< of the group
  std::uint32_t path;
  std::int32_t slot;
  std::uint32_t first_unit;
  std::uint32_t spare_units;  ///< first units without rows: a block that comes from another job is late
  std::uint32_t unit_rows;    ///< rows of the group that each of the remaining units reads
  std::uint32_t group;        ///< number of the group
  std::uint32_t other_path;
  std::int32_t other_slot;  ///< kNoSlot: one path only
};
constexpr std::int32_t kNoSlot = -1;
constexpr std::uint32_t kNearJobs = 32;  ///< jobs that a warp searches at once

/// Records and gradients in one order of rows.
struct RowStore {
  std::uint8_t const* records;
  NarrowGradient const* narrow;  ///< [rows], used by the narrow format
  GradientPair const* wide;      ///< [rows], used by the wide format
};

/// The current level and the place of its rows.
struct RowPaths {
  RowStore store;
  std::uint8_t const* path;  ///< [rows of the store] at the parents' level; nullptr: 0 everywhere
  std::uint8_t* next_path;   ///< [rows of the store] at this level
  std::uint32_t first;       ///< number of path 0 in `path`; larger numbers follow, smaller ones are dead
  std::uint32_t next_first;  ///< number of path 0 in `next_path`
  RowGroup* groups;
  PathSplit* splits;        ///< [groups << depth]
  std::uint32_t* counts;    ///< [groups << (depth + 1)] rows of the children, if the next level is moved
  PathPlace* places;        ///< [nodes]
  WalkNode* walk;           ///< [nodes]
  PathJob* jobs;            ///< [families, but at least kNearJobs]
  std::uint32_t unit_rows;  ///< least rows of one unit of the summing kernel
  int depth;                ///< levels from a group's node down to the parents
  bool cleared;             ///< this level's histogram slots are clear before its first kernel
  /// Number of histogram slots that the summing kernel of this level clears for the next level; 0: none.
  std::uint32_t slots;
  // The next store, if rows are moved:
  std::uint8_t* next_records;
  NarrowGradient* next_narrow;
  GradientPair* next_wide;  ///< nullptr: no room; a tree of the wide format must then be grown again with room
  RowGroup* next_groups;
  /// [rows] group of each row of the matrix after the first move; kDeadPath: none. nullptr: not recorded
  std::uint8_t* start;
  NodeIndex* start_nodes;  ///< [groups] nodes of the groups in `start`
  /// Rows walk in the whole matrix, not in the tree's copy. Columns of the whole matrix are the features.
  bool walk_whole;
};

/// Renumbers a tree whose nodes were made in another order than the finished tree's. Unused members are nullptr.
struct PathNumbers {
  WalkNode* walk;              ///< [nodes of the tree] for walks
  NodeIndex* start_nodes;      ///< [starts] if rows are moved: the finished tree's node at or above …
  NodeIndex const* starts_of;  ///< … each of these nodes
  std::uint32_t starts;
};

/// The kernel that writes rows' paths at a level: AdvancePaths, or the summing kernel, for one parent at a time, or for
/// two sibling parents.
enum class PathSums { kTold, kDivide, kPairs };

/// Facts of later levels that the host knows when it enqueues a level.
struct PathStep {
  bool move;      ///< the next level is moved: rows of this level's nodes are counted
  bool count;     ///< rows of the next level's nodes will be counted: its counts are cleared
  PathSums sums;  ///< kernel that writes paths at the next level
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_ROW_PATHS_H_
