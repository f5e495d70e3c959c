/// The division of features and bins among threads of the split kernel.
#ifndef XGBGPU_SPLIT_SPLIT_GROUPS_H_
#define XGBGPU_SPLIT_SPLIT_GROUPS_H_

#include <cstdint>
#include <vector>

#include "base/hd.h"
#include "matrix/device_matrix.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr int kSplitThreads = 256;  ///< threads of one item
constexpr int kSplitResident = 2;   ///< most blocks of the split kernel on a multiprocessor
constexpr int kSplitBins = 4;       ///< neighbouring bins of a feature that one thread takes at once

/// Most rows of matrices whose split kernel starts early: their levels are little more than launches.
constexpr std::uint64_t kMostEarlyRows = 1 << 20;

/// The features of one item of the split kernel, by their columns.
struct SplitGroup {
  FeatureIndex first;  ///< column
  std::uint16_t features;
  std::uint16_t segments;  ///< threads that share the bins of a feature: a power of two
  bool categorical;        ///< one feature, for the whole block
};

/// Returns groups of neighbouring columns, ascending. A group has columns of one tile only. `view` and `tiles` are of a
/// whole matrix or of a copy of some columns; `cuts` are of all features.
std::vector<SplitGroup> MakeSplitGroups(DeviceMatrixView const& view, std::vector<DeviceTile> const& tiles,
                                        Cuts const& cuts);

/// Most groups for which the block that plans the next level finds the best of each node's candidates.
constexpr std::uint32_t kMostReducedGroups = 16;

// With more groups in a sparse matrix, each warp takes a few features at a time, without barriers.

constexpr std::uint32_t kWarpSplitBins = 8;  ///< neighbouring bins of a feature that one lane takes
constexpr int kWarpSplitRounds = 2;          ///< rounds of 32 lanes whose bins a warp loads together

/// Neighbouring features of a sparse matrix that a warp takes together: features of one round, then of the next.
struct alignas(16) WarpGroup {
  BinIndex cell;  ///< first cell in a histogram
  FeatureIndex first;
  std::uint16_t features;
  std::uint16_t cells;
  std::uint8_t segment_bits;  ///< log2 of the lanes of a feature
};

constexpr std::uint32_t kWarpRun = 8;  ///< least groups of a block, one for each of its warps

/// Groups of all children, in order, divided among blocks in runs. Consecutive blocks take the groups of a child.
struct WarpGroupRuns {
  std::uint32_t groups;  ///< groups of a child
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
  /// Returns the last block that begins at or before `at`.
  XGBGPU_HD std::uint32_t BlockOf(std::uint32_t at) const {
    return static_cast<std::uint32_t>(((std::uint64_t{at} + 1) * blocks - 1) / all);
  }
};

/// Returns groups of all features, ascending. Returns none if a feature is categorical or has more bins than a warp
/// takes, or if the candidates of all blocks of a child need more than `places`.
std::vector<WarpGroup> MakeWarpGroups(Cuts const& cuts, std::size_t places);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_GROUPS_H_
