/// Stage 7 for symmetric trees on a CUDA device: the scores of all candidates of a level, and the division of its nodes
/// by the best one. The host chooses in between (split/level_scores.h). docs/adr/0022-symmetric-trees.md
#ifndef XGBGPU_SPLIT_LEVEL_GAINS_CUDA_H_
#define XGBGPU_SPLIT_LEVEL_GAINS_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "matrix/device_matrix.h"
#include "split/level_scores.h"
#include "split/split.h"
#include "split/symmetric_ops.h"
#include "tree/device_categories.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// A divisible node of the level.
struct LevelNodeInSlot {
  LevelNode node;
  NodeIndex number;
  std::int32_t slot;  ///< slot of its histogram
};

/// A feature that the level may be divided by.
struct LevelFeature {
  FeatureIndex feature;
  BinIndex sorted_splits;  ///< kSorted: number of candidates from either end
  CandidateKind kind;
  std::int8_t direction;  ///< monotone constraint
};

/// A view of a level for kernels. Arrays are on the device.
struct LevelView {
  DeviceMatrixView matrix;
  DeviceHistograms histograms;
  LevelNodeInSlot const* nodes;  ///< [divisible nodes] in the order of their paths
  LevelFeature const* features;  ///< [features of the level]
  std::uint32_t feature_count;
  BinIndex const* sorted;  ///< [bins of all features] kSorted: ordered categories of each feature
  BinIndex bins;           ///< of all features
};

/// Enqueues the subtraction of siblings' histograms, if families want it: the parent's less the built child's.
void SubtractSiblings(GrowingTree const& tree, DeviceHistograms const& histograms, std::uint32_t families,
                      DeviceLimits const& limits, cudaStream_t stream);

/// Adds the gains of dividing nodes [first, first + count) to `scores`, or, with first = 0, sets the scores to them.
/// Enqueued.
///
/// In      gains  [count, 2, bins] scratch; count < 65,536
/// Out     scores [2, bins] of LevelScores; valid for the level's features only
/// Same    bit-equal to host::LevelSplitFinder: one thread adds a candidate's gains in the order of nodes
void AddLevelGains(LevelView const& view, SplitParams const& params, bool monotone, std::uint32_t first,
                   std::uint32_t count, double* gains, double* scores, cudaStream_t stream);

/// Adds gains [count, candidates] to scores [candidates] in their order, or sets the scores to the sum. Enqueued.
void AddGains(double const* gains, std::uint64_t candidates, std::uint32_t count, bool adds, double* scores,
              cudaStream_t stream);

/// Writes the split, with the sums of its two sides, to each of the level's `count` nodes, and the left sums to `lefts`
/// [count]. For a split by categories its `bin` is the number of its set. Enqueued.
void WriteLevelSplit(LevelView const& view, LevelSplit const& split, std::uint32_t const* right_categories,
                     std::uint32_t count, Node* nodes, GradientSum* lefts, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_LEVEL_GAINS_CUDA_H_
