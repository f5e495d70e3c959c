/// Stage 9 on a CUDA device, behind a tree that was grown by paths: all rows walk it before the host has seen it.
#ifndef XGBGPU_PREDICT_WALK_CUDA_H_
#define XGBGPU_PREDICT_WALK_CUDA_H_

#include <cstdint>

#include "base/hd.h"
#include "cuda/device.h"
#include "matrix/device_matrix.h"
#include "partition/partition_cuda.h"
#include "partition/row_paths.h"
#include "sample/sample_cuda.h"
#include "tree/device_categories.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// A tree that was grown by paths. Rows walk if it is finished.
struct WalkTree {
  WalkNode const* nodes;
  Node const* made;              ///< the nodes as they were made, level by level: the same ones, without an order
  LevelState const* state;       ///< knows the number of nodes
  bool ordered;                  ///< is there an order?
  bool may_go_on;                ///< may further levels be enqueued?
  DeviceCategories categories;   ///< sets of the splits by categories
  std::uint8_t const* start;     ///< see RowPaths; nullptr: rows walk from the root
  NodeIndex const* start_nodes;  ///< nodes in the tree that `start` refers to

  XGBGPU_HD bool finished() const { return !may_go_on || state->families == 0; }
  XGBGPU_HD NodeIndex size() const { return static_cast<NodeIndex>(ordered ? 2 * state->ordered + 1 : state->nodes); }
  /// A depth that none of the first `n` nodes exceeds.
  XGBGPU_HD int DepthOfFirst(NodeIndex n) const { return ordered ? state->depth : made[n - 1].depth; }
};
/// Enqueues to[row · stride] = from[row · stride] + node_values[leaf] for all rows. `from` may be `to`.
void AddLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, float const* node_values, float const* from,
                    float* to, std::size_t stride, DeviceLimits const& limits, cudaStream_t stream);
/// Enqueues positions[row] = leaf, for all rows of the matrix.
void WriteLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, NodeIndex* positions,
                      DeviceLimits const& limits, cudaStream_t stream);
/// Writes the complements of what WriteLeavesOfAll writes …
void WriteComplementsOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, NodeIndex* positions,
                           DeviceLimits const& limits, cudaStream_t stream);
/// … and this makes those of rows in the sample leaves again.
void MarkSampled(SampleView const& sample, NodeIndex* positions, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_WALK_CUDA_H_
