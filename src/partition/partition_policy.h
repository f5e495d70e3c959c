/// Tuning numbers of the division of rows. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_PARTITION_PARTITION_POLICY_H_
#define XGBGPU_PARTITION_PARTITION_POLICY_H_

#include <cstdint>

namespace xgbgpu {

struct HostPartitionPolicy {
  /// Most values of a sparse column for each row that is divided by it, so that the column is read. With more values
  /// each row is searched.
  std::uint64_t most_values_of_row{2};
};

/// On a device.
struct PartitionPolicy {
  /// Rows that a warp divides at a time: at most 1024, fewer if multiprocessors would be idle.
  std::uint32_t most_item_rows{1024};
  std::uint32_t least_item_rows{64};
  /// Rows of one unit of the histogram kernel: a step of 16 warps, fewer if multiprocessors would be idle.
  std::uint32_t most_unit_rows{512};
  std::uint32_t least_unit_rows{128};
  /// Most tiles of matrices whose rows keep their place and carry a path (row_paths.h) in device-driven growth. With
  /// more tiles a second copy of the rows is not worth its memory.
  std::uint32_t most_path_tiles{4};
  /// Most tiles of copies of columns whose rows carry a path. Trees copy columns only if there is memory for the copy
  /// and its moves.
  std::uint32_t most_copied_path_tiles{16};
  /// Most levels of a tree by paths: more levels have no numbers for all paths.
  int most_path_levels{40};
  /// Least bytes of bins of rows that are moved every move_every levels. Until a move, the path of every row is read
  /// once for each node of the level. Rows with fewer bytes are moved only to keep paths in a byte.
  std::uint64_t least_moved_bytes{2 << 20};
  int move_every{4};
  int move_small_every{7};
  /// Bytes of bins that stay in the second-level cache. The rows of one parent in four are then found in the cache one
  /// by one; otherwise the rows of two parents are read in one pass.
  std::uint64_t cached_bytes{40 << 20};
  /// Most bytes of histograms that are all cleared at the start of a tree, if summing kernels also divide the rows.
  /// With more bytes each summing kernel clears the slots of the next level.
  std::uint64_t most_cleared_bytes{32 << 20};
};

/// The numbers in use.
constexpr PartitionPolicy kPartitionPolicy{};

}  // namespace xgbgpu

#endif  // XGBGPU_PARTITION_PARTITION_POLICY_H_
