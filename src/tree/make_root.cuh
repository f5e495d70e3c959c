/// Makes the first node of a tree in a kernel.
#ifndef XGBGPU_TREE_MAKE_ROOT_CUH_
#define XGBGPU_TREE_MAKE_ROOT_CUH_

#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// Makes the root with `rows` rows: a family of one with histogram slot 0. One thread calls it. Returns the root's sum.
__device__ inline GradientSum MakeRoot(GrowingTree const& tree, std::uint32_t rows) {
  LevelState& state = *tree.state;
  Node root;
  root.sum = {__ldcg(&state.sum.grad), __ldcg(&state.sum.hess)};
  root.rows = rows;
  root.slot = 0;
  tree.nodes[0] = root;
  tree.families[0] = {kNoNode, 0, 0, -1, 1, 1, 0, 0, 0};
  state.rows = rows;
  state.nodes = 1;
  state.level_first = 0;
  state.leaves = 1;
  state.families = 1;
  state.sum_jobs = 1;
  return root.sum;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_MAKE_ROOT_CUH_
