/// Tuning numbers of growth on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_LEVEL_LEVEL_POLICY_H_
#define XGBGPU_LEVEL_LEVEL_POLICY_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct LevelPolicy {
  /// Memory for histograms at most, if the device has that much: this part of what is free when a trainer starts, …
  double histogram_part{0.4};
  /// … and never more than this.
  std::size_t most_histogram_bytes{std::size_t{8} << 30};
  /// Memory for the candidates of a level at most; deeper trees are grown attended.
  std::size_t most_candidate_bytes{std::size_t{256} << 20};
  /// Levels of an unattended tree at most: a level costs three launches even if it is empty.
  int most_levels{16};
  /// A loss-guided tree of at most so many leaves is grown unattended, with an order (grow_order_ops.h): one block
  /// keeps it, and is as long about it as the other kernels of a level with some hundred leaves.
  int most_ordered_leaves{1024};
  /// Such trees, and depth-wise ones of few leaves (TreeShape::open), may have so many levels, or else the tree, and
  /// those to come, are grown attended.
  int most_open_levels{40};
  /// Levels of them that are enqueued in one go, at most …
  int most_enqueued_levels{24};
  /// … and, of the first tree, so many more than a balanced one needs. For a tree that turns out deeper, and those to
  /// come, so many more at a time; so many fewer again after so many trees in a row that would have done with them.
  int more_than_balanced{6};
  int more_levels{4};
  int shallow_trees{32};
  /// Without an order all nodes to a limit of depth are made, if the tree may have at least this part of the leaves.
  double cut_part{0.25};
  /// Histograms that attended growth keeps for nodes that wait, if memory allows.
  std::uint32_t attended_slots{1024};
  /// Families of one attended batch.
  std::size_t attended_batch{512};
  /// Rows that a warp divides at a time: at most 1024, fewer where that would leave multiprocessors idle.
  std::uint32_t most_item_rows{1024};
  std::uint32_t least_item_rows{64};
  /// Rows keep their place and carry a path (row_paths.h) in unattended trees on matrices of at most this many tiles.
  /// With more, a second copy of them is not worth its memory.
  std::uint32_t most_path_tiles{4};
  /// Rows of a sample that there is room for: the number expected, and so many of its square roots more, each of which
  /// is more than a standard deviation. A tree whose sample is larger, one of 30,000 at most, is grown again with more
  /// room.
  double sample_deviations{4};
  /// From this many bytes of bins on rows are moved every move_every levels: until then the paths of every row are
  /// looked at once for each node of the level. Less is moved only to keep paths in a byte.
  std::uint64_t least_moved_bytes{2 << 20};
  int move_every{4};
  int move_small_every{7};
  /// Bins of so many bytes stay in the second-level cache: rows of one parent in four are then found in it one by one,
  /// where else those of two parents are read on one way.
  std::uint64_t cached_bytes{40 << 20};
  /// Trees whose rows are divided by the kernels that sum: all histograms are cleared at the start, if they have at
  /// most so many bytes; else each of these kernels clears the slots of the next level.
  std::uint64_t most_cleared_bytes{32 << 20};
  /// Rows of one unit of the histogram kernel: a step of 16 warps, fewer where that would leave multiprocessors idle.
  std::uint32_t most_unit_rows{512};
  std::uint32_t least_unit_rows{128};
};

/// That room, for samples of `expected` among `rows` rows.
inline std::uint32_t RoomForSample(double expected, std::uint64_t rows) {
  double const most = expected + LevelPolicy{}.sample_deviations * std::sqrt(expected) + 1;
  return static_cast<std::uint32_t>(std::min(most, static_cast<double>(rows)));
}

}  // namespace xgbgpu

#endif  // XGBGPU_LEVEL_LEVEL_POLICY_H_
