/// Stage 9 on a CUDA device, after a tree grown by paths: all rows walk the tree before the host has seen it.
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

/// A tree grown by paths. Rows walk if it is finished.
struct WalkTree {
  WalkNode const* nodes;
  Node const* made;  ///< nodes in the order of their making, level by level; without an order the same as the tree's
  LevelState const* state;       ///< has the number of nodes
  bool ordered;                  ///< the tree has an order
  bool may_go_on;                ///< further levels may be enqueued
  DeviceCategories categories;   ///< sets of splits by categories
  std::uint8_t const* start;     ///< see RowPaths; nullptr: rows walk from the root
  NodeIndex const* start_nodes;  ///< nodes of the tree that `start` refers to

  XGBGPU_HD bool finished() const { return !may_go_on || state->families == 0; }
  XGBGPU_HD NodeIndex size() const { return static_cast<NodeIndex>(ordered ? 2 * state->ordered + 1 : state->nodes); }
  /// Returns a depth that none of the first `n` nodes exceeds.
  XGBGPU_HD int DepthOfFirst(NodeIndex n) const { return ordered ? state->depth : made[n - 1].depth; }
};
/// Enqueues to[row · stride] = from[row · stride] + node_values[leaf] for all rows. `from` may be `to`.
void AddLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, float const* node_values, float const* from,
                    float* to, std::size_t stride, DeviceLimits const& limits, cudaStream_t stream);
/// Enqueues positions[row] = leaf for all rows of the matrix.
void WriteLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, NodeIndex* positions,
                      DeviceLimits const& limits, cudaStream_t stream);
/// Writes the complements of WriteLeavesOfAll's positions …
void WriteComplementsOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, NodeIndex* positions,
                           DeviceLimits const& limits, cudaStream_t stream);
/// … and this call restores the positions of sampled rows.
void MarkSampled(SampleView const& sample, NodeIndex* positions, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_WALK_CUDA_H_
