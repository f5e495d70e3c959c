/// The nodes of a symmetric tree that a device has grown, with their weights.
#ifndef XGBGPU_TREES_CUDA_SYMMETRIC_NODES_CUDA_H_
#define XGBGPU_TREES_CUDA_SYMMETRIC_NODES_CUDA_H_

#include <vector>

#include "growth/symmetric_tree.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// Keeps the tree on the host while it grows, or replays it when it has grown.
class SymmetricNodes {
 public:
  /// Begins the tree of the parts with this sum of the root.
  void Begin(TreeParts const& parts, GradientSum root, GradientFormat const& format);
  /// Begins a tree of vectors. `params` [outputs] are in the units of each; `root`: [outputs].
  void Begin(TrainParams const& train, std::vector<SplitParams> params, FeatureSampler const& features,
             Constraints const& constraints, Span<GradientSum const> root);
  SymmetricTree& tree() { return tree_; }
  SymmetricTree const& tree() const { return tree_; }
  /// [outputs] in the units of the tree
  Span<SplitParams const> params() const { return params_; }

  /// Ends the tree: cuts weak levels off. `made`: its nodes on the device; reads `rows` and `left`. Returns
  /// BatchGrowth::LeafNumbers.
  std::vector<NodeIndex> End(Span<Node const> made);
  Span<Node const> nodes() const { return nodes_; }
  Span<float const> weights() const { return tree_.weights(); }

 private:
  SymmetricTree tree_;
  std::vector<SplitParams> params_;
  std::vector<Node> nodes_;  ///< of the tree, with their rows
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_SYMMETRIC_NODES_CUDA_H_
