/// Stage 7 for symmetric trees in device-driven growth: sums → the best split of a whole level, without the host.
/// docs/adr/0022-symmetric-trees.md
#ifndef XGBGPU_SPLIT_LEVEL_SEARCH_CUDA_H_
#define XGBGPU_SPLIT_LEVEL_SEARCH_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/cleared_workspace.h"
#include "cuda/device.h"
#include "matrix/device_matrix.h"
#include "sample/sample.h"
#include "split/split_cuda.h"
#include "split/symmetric_ops.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// A candidate with the largest score, with equal scores the smallest order.
struct alignas(16) LevelBest {
  double score;         ///< 0: no candidate has more
  std::uint64_t order;  ///< smaller features first, then the order of LevelScores::Best
  FeatureIndex feature;
  BinIndex bin;  ///< first feature-local bin that goes right
  bool default_left;
};

constexpr unsigned kLevelSearchThreads = 128;
/// Returns the number of blocks that sum the scores of `bins` bins.
XGBGPU_HD std::uint32_t LevelSearchBlocks(std::uint64_t bins) {
  return static_cast<std::uint32_t>((bins + kLevelSearchThreads - 1) / kLevelSearchThreads);
}

/// The search for the split of a level, beside SplitView. Arrays are on the device. Every bin has candidates of two
/// kinds, as in LevelScores. Without missing values the second kind is left out.
struct LevelSearchView {
  LevelNode* nodes;               ///< [nodes of the tree] without the root: LevelNodeOf makes it from its sum
  double* gains;                  ///< [nodes of a chunk, kinds, bins] gains of dividing a node
  double* scores;                 ///< [kinds, bins] over earlier chunks
  LevelBest* bests;               ///< [blocks] best of a part of the candidates, then the level's best
  std::uint32_t const* features;  ///< bit set of the level's features; nullptr: all
  std::uint64_t bins;             ///< of all features
  std::uint32_t kinds;

  XGBGPU_HD LevelBest* best() const { return bests + LevelSearchBlocks(bins); }
};

/// Returns a node of the level. `params` are in the units of the tree.
template <bool kMonotone>
XGBGPU_HD LevelNode LevelNodeOf(GrowingTree const& tree, LevelNode const* nodes, SplitParams const& params,
                                NodeIndex n) {
  return n == 0 ? LevelRoot<kMonotone>(params, SumOfNumber(params, tree.nodes[0].sum)) : nodes[n];
}

/// Makes the histograms of siblings by subtraction, like FindSplits, and finds the best split of the level. No feature
/// may be categorical. Enqueued.
///
/// In      view.features is unused: the level's features are search.features and the interaction constraints of its
///         first node, which are equal for all its nodes. chunk: nodes with room for gains, an even number
/// Out     *search.best()
/// Same    bit-equal to host::LevelSplitFinder: one thread adds a candidate's gains in the order of nodes
void FindLevelSplit(SplitView const& view, LevelSearchView const& search, LevelBounds const& bounds,
                    std::uint32_t chunk, DeviceLimits const& limits, cudaStream_t stream);

/// Owns the memory of the search for one growing tree.
class LevelSearchWorkspace {
 public:
  /// Both must outlive it.
  LevelSearchWorkspace(DeviceMatrix const& matrix, ClearedWorkspace* workspace);

  /// Makes room for trees of `nodes` nodes, with levels of at most `widest`.
  void Reserve(std::size_t nodes, std::size_t widest);
  /// Returns the most bytes that Reserve takes for these arguments.
  std::size_t BytesFor(std::size_t nodes, std::size_t widest) const;
  /// Copies the features of the `levels` levels of the next tree, unless all may divide all. Waits if it copies. True
  /// if the memory has moved.
  bool SetFeatures(FeatureSampler const& sampler, int levels);
  LevelSearchView View(int level) const;
  std::uint32_t chunk() const { return chunk_; }
  /// Bit sets of all levels, or nullptr: part of what a recorded tree depends on.
  std::uint32_t const* features() const { return has_features_ ? features_.data() : nullptr; }

 private:
  std::size_t candidates() const { return std::size_t{kinds_} * matrix_.cuts.ptr.back(); }
  std::size_t ChunkOf(std::size_t widest) const;

  DeviceMatrix const& matrix_;
  ClearedWorkspace* workspace_;
  std::uint32_t kinds_, words_;
  std::uint32_t chunk_{2};
  bool has_features_{false};
  DeviceBuffer<LevelNode> nodes_;
  DeviceBuffer<double> gains_;
  DeviceBuffer<double> scores_;
  DeviceBuffer<LevelBest> bests_;
  DeviceBuffer<std::uint32_t> features_;
  PinnedUpload<std::uint32_t> upload_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_LEVEL_SEARCH_CUDA_H_
