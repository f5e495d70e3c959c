/// Stage 5 on a CUDA device: rows follow their nodes, in lists or by paths. docs/adr/0006-cuda-kernels.md
#ifndef XGBGPU_PARTITION_PARTITION_CUDA_H_
#define XGBGPU_PARTITION_PARTITION_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "matrix/device_matrix.h"
#include "partition/row_paths.h"
#include "sample/sample_cuda.h"
#include "tree/device_categories.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// Rows of a node that are moved to its children, or, if it stays a leaf, whose positions are final.
struct MoveJob {
  NodeIndex node;
  std::int32_t family;  ///< if the node stays a leaf: the complement of its number in the finished tree
  std::uint32_t first_item;
};

/// Rows of a node that are summed.
struct SumJob {
  NodeIndex node;
  std::int32_t slot;
  std::uint32_t first_unit;
};

/// Rows in lists: the rows of a node lie side by side in one of two arrays. Arrays are on the device.
struct RowLists {
  RowRecord* lists[2];            ///< [rows]
  NodeIndex* positions;           ///< [rows] leaf of each row, once it is final
  GradientPair const* gradients;  ///< [rows]; those of a sample are divided by the chances
  MoveJob* move_jobs;
  SumJob* sum_jobs;
  std::uint32_t item_rows;  ///< rows that a warp divides at a time, a multiple of 32, at most 1024
  std::uint32_t unit_rows;  ///< rows of one unit of the kernel that sums
  bool of_page{false};      ///< other rows of the nodes are summed, too: sums are added to what is there
};

/// What dividing rows needs beside the rows.
struct PartitionView {
  GrowingTree tree;
  DeviceMatrixView matrix;      ///< where the rows of a sample are copied, it has these only
  DeviceCategories categories;  ///< of the splits
  DeviceHistograms histograms;  ///< whose slots are cleared on the way
  GradientState const* gradient;
};

/// Is a row's step from node to node so short that it is not worth while to note where the first move brings it?
inline bool WalksInBytes(DeviceMatrixView const& matrix, bool categories) {
  return matrix.tiles == 1 && matrix.symbol_bytes == 1 && !categories;
}

// Rows of the root.

/// Writes the shard's rows with their gradients to list 0, sums them, and makes the root, which has the sum over all
/// devices, with histogram slot 0. (start_lists_cuda.cu)
void ListRootRows(PartitionView const& view, RowLists const& rows, TreeDraw const* draw, DeviceShard const& shard,
                  DeviceLimits const& limits, cudaStream_t stream);
/// Does what ListRootRows does for the rows of a sample, which were drawn into list 0, or copied: the matrix of `view`
/// and the lists are then those of the copy.
void ListSampledRows(PartitionView const& view, RowLists const& rows, TreeDraw const* draw, SampleView const& sample,
                     DeviceShard const& shard, DeviceLimits const& limits, cudaStream_t stream);
/// Writes gradients in the order of rows to `narrow`, if that is the format and they are not there yet. Sums them over
/// all devices, makes the root, its group and its sum job, notes the maxima for the next tree, and clears
/// RowPaths::next_path, if there is one. (start_paths_cuda.cu)
void StartPaths(PartitionView const& view, RowPaths const& paths, TreeDraw const* draw, EarlyGradients const& early,
                GradientPair const* gradients, NarrowGradient* narrow, DeviceShard const& shard,
                DeviceLimits const& limits, cudaStream_t stream);
/// Does what StartPaths does for the rows of a sample, in its order.
void StartSampledPaths(PartitionView const& view, RowPaths const& paths, TreeDraw const* draw, SampleView const& sample,
                       NarrowGradient* narrow, DeviceShard const& shard, DeviceLimits const& limits,
                       cudaStream_t stream);

// Rows of a level: each is enqueued once for all nodes; none waits for the host.

/// In a final level the children are not evaluated: rows get their positions and are not moved.
enum class LevelKind { kInner, kFinal };
/// Moves rows to the children or writes their positions; the last block plans the sums. (partition_cuda.cu)
void MoveRows(PartitionView const& view, RowLists const& rows, LevelBounds const& bounds, LevelKind kind,
              DeviceLimits const& limits, cudaStream_t stream);
/// Tells rows their paths at this level, and clears the slots that the level sums, unless they are clear.
/// (row_paths_cuda.cu)
void AdvancePaths(PartitionView const& view, RowPaths const& paths, LevelBounds const& bounds, PathStep step,
                  DeviceLimits const& limits, cudaStream_t stream);
/// Moves live rows into the order of this level's nodes, which become groups. Clears the slots that the level sums,
/// unless they are clear.
void MovePaths(PartitionView const& view, RowPaths const& paths, LevelBounds const& bounds, DeviceLimits const& limits,
               cudaStream_t stream);
/// Clears the slots that this level sums, if no kernel before did.
void ClearSums(PartitionView const& view, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PARTITION_CUDA_H_
