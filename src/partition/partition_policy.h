/// Tuning numbers of how rows follow their nodes on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_PARTITION_PARTITION_POLICY_H_
#define XGBGPU_PARTITION_PARTITION_POLICY_H_

#include <cstdint>

namespace xgbgpu {

struct PartitionPolicy {
  /// Rows that a warp divides at a time: at most 1024, fewer where that would leave multiprocessors idle.
  std::uint32_t most_item_rows{1024};
  std::uint32_t least_item_rows{64};
  /// Rows of one unit of the histogram kernel: a step of 16 warps, fewer where that would leave multiprocessors idle.
  std::uint32_t most_unit_rows{512};
  std::uint32_t least_unit_rows{128};
  /// Rows keep their place and carry a path (row_paths.h) in device-driven trees on matrices of at most this many
  /// tiles. With more, a second copy of them is not worth its memory.
  std::uint32_t most_path_tiles{4};
  /// A tree by paths has at most so many levels: so many have numbers for the paths of all their rows.
  int most_path_levels{40};
  /// Rows with this many bytes of bins or more are moved every move_every levels: until they are moved, the path of
  /// every row is looked at once for each node of the level. Rows with fewer are moved only to keep paths in a byte.
  std::uint64_t least_moved_bytes{2 << 20};
  int move_every{4};
  int move_small_every{7};
  /// Bins of so many bytes stay in the second-level cache: rows of one parent in four are then found in it one by one,
  /// where else those of two parents are read on one way.
  std::uint64_t cached_bytes{40 << 20};
  /// Where kernels that sum also divide the rows, all histograms are cleared at the start of a tree if they have at
  /// most so many bytes; else each of these kernels clears the slots of the next level.
  std::uint64_t most_cleared_bytes{32 << 20};
};

}  // namespace xgbgpu

#endif  // XGBGPU_PARTITION_PARTITION_POLICY_H_
