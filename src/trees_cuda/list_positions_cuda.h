/// The positions of rows in lists, in a host-driven tree.
#ifndef XGBGPU_TREES_CUDA_LIST_POSITIONS_CUDA_H_
#define XGBGPU_TREES_CUDA_LIST_POSITIONS_CUDA_H_

#include "tree/node.h"
#include "trees_cuda/tree_parts_cuda.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Writes the positions of the rows of the tree. `made`: the nodes as the device made them; the undivided ones have the
/// rows. `leaf` [made]: the leaf of the finished tree that the rows belong to, or kNoNode. Waits.
void WriteListPositions(TreeParts* parts, Span<Node const> made, Span<NodeIndex const> leaf);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_LIST_POSITIONS_CUDA_H_
