/// The children of a level. Devices compare their best splits.
#ifndef XGBGPU_COLLECTIVE_LEVEL_CHILDREN_CUH_
#define XGBGPU_COLLECTIVE_LEVEL_CHILDREN_CUH_

#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// Returns the number of children of a level's families. The root is a child without a sibling.
__device__ inline std::uint32_t ChildrenOf(GrowingTree const& tree) {
  return tree.state->families * (tree.families[0].sibling_slot < 0 ? 1 : 2);
}
/// Returns child number c.
__device__ inline Node* ChildOf(GrowingTree const& tree, std::uint32_t c) {
  return tree.nodes + tree.families[c / 2].left + static_cast<NodeIndex>(c % 2);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_LEVEL_CHILDREN_CUH_
