/// Stage 7 for symmetric trees of vectors on a CUDA device: the gains of all candidates of a level, and the division of
/// its nodes by the best one. The host chooses in between (split/level_scores.h). docs/adr/0043-vector-leaves.md
#ifndef XGBGPU_SPLIT_VECTOR_LEVELS_CUDA_H_
#define XGBGPU_SPLIT_VECTOR_LEVELS_CUDA_H_

#include <cstdint>

#include "base/hd.h"
#include "cuda/device.h"
#include "histogram/vector_histogram_cuda.h"
#include "matrix/device_matrix.h"
#include "split/level_gains_cuda.h"
#include "split/level_scores.h"
#include "split/symmetric_ops.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// A divisible node of the level.
struct NodeInSlot {
  NodeIndex number;
  std::int32_t slot;  ///< slot of its histogram
};

/// A view of a level for kernels. Arrays are on the device.
struct VectorLevelView {
  DeviceMatrixView matrix;
  DeviceHistograms histograms;  ///< sums over the bins up to a bin (AccumulateVectors)
  VectorCells cells;
  LevelParams params;
  NodeInSlot const* nodes;          ///< [divisible nodes] in the order of their paths
  LevelNode const* numbers;         ///< [divisible nodes, outputs]
  std::uint8_t const* may_divide;   ///< [features] 1: the level may be divided by the feature, which has numbers
  std::int8_t const* directions;    ///< [features] of monotone constraints; nullptr: none
  BinIndex bins;                    ///< of all features
  LevelFeature const* categorical;  ///< [categorical_count] categorical features by which the level may be divided
  std::uint32_t categorical_count;
  BinIndex const* sorted;  ///< [bins of all features] kSorted: ordered categories of each feature
  GradientSum* ends;       ///< VectorCategories::ends

  /// Returns the histogram of divisible node `n`.
  XGBGPU_HD std::int64_t const* sums(std::uint64_t n) const {
    return reinterpret_cast<std::int64_t const*>(histograms.slot(nodes[n].slot));
  }
};

/// Writes the gains of dividing nodes [first, first + count) by each candidate of the level's features. Enqueued.
///
/// Out     gains [count, 2, bins] of LevelScores; count < 65,536
/// Same    bit-equal to host::LevelSplitFinder: one thread adds the outputs of a candidate in their order
void FindVectorLevelGains(VectorLevelView const& view, std::uint32_t first, std::uint32_t count, double* gains,
                          DeviceLimits const& limits, cudaStream_t stream);

/// Writes the split, without sums, to each of the level's `count` nodes. Writes the sums of the rows that go left to
/// `lefts` [count, outputs]. `right_categories`: the set of a split by categories. Enqueued.
void WriteVectorLevelSplit(VectorLevelView const& view, LevelSplit const& split, std::uint32_t const* right_categories,
                           std::uint32_t count, Node* nodes, GradientSum* lefts, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_VECTOR_LEVELS_CUDA_H_
