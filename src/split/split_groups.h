/// How the split kernel deals features and bins to its threads.
#ifndef XGBGPU_SPLIT_SPLIT_GROUPS_H_
#define XGBGPU_SPLIT_SPLIT_GROUPS_H_

#include <cstdint>
#include <vector>

#include "base/hd.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/types.h"

namespace xgbgpu {
class DeviceMatrix;
}

namespace xgbgpu::cuda {

constexpr int kSplitThreads = 256;  ///< threads that look at one item
constexpr int kSplitResident = 2;   ///< blocks of the split kernel on a multiprocessor, at most
constexpr int kSplitBins = 4;  ///< neighbouring bins of a feature that one thread of the split kernel looks at at once

/// The split kernel starts early for matrices of at most so many rows: their levels are little more than launches.
constexpr std::uint64_t kMostEarlyRows = 1 << 20;

/// Features that one item of the split kernel looks at.
struct SplitGroup {
  FeatureIndex first;
  std::uint16_t features;
  std::uint16_t segments;  ///< threads that share the bins of a feature: a power of two
  bool categorical;        ///< one feature, for the whole block
};

/// Groups of neighbouring features, ascending, never of two tiles.
std::vector<SplitGroup> MakeSplitGroups(DeviceMatrix const& matrix);

/// With at most so many groups, the block that chooses the next level finds the best of each node's candidates.
constexpr std::uint32_t kMostReducedGroups = 16;

// Where a sparse matrix has more groups, a warp looks at a few features at a time, and waits for no other.

constexpr std::uint32_t kWarpSplitBins = 8;  ///< neighbouring bins of a feature that one lane looks at
constexpr int kWarpSplitRounds = 2;          ///< of 32 lanes, whose bins a warp loads together

/// Neighbouring features of a sparse matrix that a warp looks at together, those of a round and then those of the next.
struct alignas(16) WarpGroup {
  BinIndex cell;  ///< first one in a histogram
  FeatureIndex first;
  std::uint16_t features;
  std::uint16_t cells;
  std::uint8_t segment_bits;  ///< log2 of the lanes that share the bins of a feature
};

constexpr std::uint32_t kWarpRun = 8;  ///< groups of a block at least, one for each of its warps

/// Groups of all children, in order, dealt to blocks in runs. The groups of a child are looked at by blocks that follow
/// one another.
struct WarpGroupRuns {
  std::uint32_t groups;  ///< of a child
  std::uint32_t all;
  std::uint32_t blocks;

  XGBGPU_HD WarpGroupRuns(std::uint32_t groups_of_child, std::uint32_t children, std::uint32_t most_blocks)
      : groups{groups_of_child}, all{groups * children}, blocks{all / kWarpRun} {
    if (blocks > most_blocks) blocks = most_blocks;
    if (blocks == 0) blocks = 1;
  }
  XGBGPU_HD std::uint32_t Begin(std::uint32_t block) const {
    return static_cast<std::uint32_t>(std::uint64_t{all} * block / blocks);
  }
  /// The last block that begins at `at` or before.
  XGBGPU_HD std::uint32_t BlockOf(std::uint32_t at) const {
    return static_cast<std::uint32_t>(((std::uint64_t{at} + 1) * blocks - 1) / all);
  }
};

/// Groups of all features, ascending. There are none if one is categorical, or has more bins than a warp can look at;
/// nor if so many blocks may look at a child that their candidates need more than `places`.
std::vector<WarpGroup> MakeWarpGroups(Cuts const& cuts, std::size_t places);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_GROUPS_H_
