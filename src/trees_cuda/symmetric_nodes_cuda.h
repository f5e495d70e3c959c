/// The nodes of a symmetric tree that a device has grown, with their weights.
#ifndef XGBGPU_TREES_CUDA_SYMMETRIC_NODES_CUDA_H_
#define XGBGPU_TREES_CUDA_SYMMETRIC_NODES_CUDA_H_

#include <optional>
#include <vector>

#include "growth/symmetric_tree.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// Keeps the tree on the host while it grows, or replays it when it has grown.
class SymmetricNodes {
 public:
  /// Begins the tree of the parts, whose root has this sum.
  void Begin(TreeParts const& parts, GradientSum root, GradientFormat const& format);
  SymmetricTree& tree() { return tree_; }
  SplitParams const& params() const { return *params_; }  ///< in the units of the tree

  /// Ends the tree: cuts weak levels off. `made`: its nodes on the device; reads `rows` and `left`. Returns
  /// BatchGrowth::LeafNumbers.
  std::vector<NodeIndex> End(Span<Node const> made);
  Span<Node const> nodes() const { return nodes_; }
  Span<float const> weights() const { return tree_.weights(); }

 private:
  SymmetricTree tree_;
  std::optional<SplitParams> params_;
  std::vector<Node> nodes_;  ///< of the tree, with their rows
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_SYMMETRIC_NODES_CUDA_H_
