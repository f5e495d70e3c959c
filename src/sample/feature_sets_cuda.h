/// Sets of features on a CUDA device: the features that a tree and its nodes may be split by.
#ifndef XGBGPU_SAMPLE_FEATURE_SETS_CUDA_H_
#define XGBGPU_SAMPLE_FEATURE_SETS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.h"
#include "cuda/pinned_upload.h"
#include "gradient/gradient_cuda.h"
#include "sample/feature_ops.h"
#include "sample/sample.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// A view of sets of features: bit sets of `words` words.
struct FeatureSetsView {
  std::uint32_t const* of_tree;  ///< nullptr: all features
  /// [2 · families of a level, apart] set 2 · family + (1 for the right child); nullptr: all nodes have the tree's set.
  std::uint32_t* of_nodes;
  float const* weights;  ///< [features] if of_nodes are chosen by weights, else nullptr
  std::uint32_t words;
  std::uint32_t apart;  ///< words from one set of of_nodes to the next; 0: one set, copied by the host

  bool are_chosen() const { return of_nodes != nullptr && apart != 0; }  ///< ChooseFeatures has to make of_nodes
  bool operator==(FeatureSetsView const& other) const {
    return of_tree == other.of_tree && of_nodes == other.of_nodes && weights == other.weights && words == other.words &&
           apart == other.apart;
  }
};

/// The choice of features for a level's nodes. Pointers are to the device.
struct FeatureChoice {
  GrowingTree tree;
  TreeDraw const* draw;
  FeatureCounts const* counts;
  FeatureIndex features;
  FeatureSetsView sets;  ///< with of_nodes
};
/// Enqueues the choice of FeatureSetsView::of_nodes for the children of all families, like FeatureSampler::Node. Nodes
/// have the numbers of the finished tree. (feature_sample_cuda.cu)
void ChooseFeatures(FeatureChoice const& level, LevelBounds const& bounds, DeviceLimits const& limits,
                    cudaStream_t stream);

/// Owns the sets of one growing tree.
class DeviceFeatureSets {
 public:
  /// `arena` must outlive this object.
  DeviceFeatureSets(FeatureIndex features, DeviceArena* arena) : features_{features}, arena_{arena} {}

  /// Copies the next tree's set, and makes room for the sets of `nodes` nodes. Kernels choose the sets of nodes.
  /// `weights`: of the features, or empty. Returns true if the memory has moved.
  bool Set(FeatureSampler const& sampler, std::vector<float> const& weights, std::size_t nodes, Stream const& stream);
  /// Copies the next tree's set and the sets of its levels. Nodes have the set of their level. Returns true if the
  /// memory has moved.
  bool SetLevels(FeatureSampler const& sampler, std::vector<std::vector<FeatureIndex>> const& levels,
                 Stream const& stream);
  /// Returns the sets of the nodes of this level, or of any level if nodes have sets of their own.
  FeatureSetsView View(int level = 0) const;

 private:
  std::uint32_t words() const { return (features_ + 31) / 32; }

  FeatureIndex features_;
  DeviceArena* arena_;
  bool has_tree_set_{false}, has_level_sets_{false}, has_node_sets_{false}, has_weights_{false};
  DeviceBuffer<std::uint32_t> told_sets_;  ///< the tree's set, then the sets of its levels
  DeviceBuffer<std::uint32_t> node_sets_;
  DeviceBuffer<float> weights_;
  PinnedUpload<std::uint32_t> upload_;
  std::vector<float> uploaded_;  ///< weights on the device
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_FEATURE_SETS_CUDA_H_
