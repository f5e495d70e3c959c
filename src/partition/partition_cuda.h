/// Stage 5 on a CUDA device: moves rows to their nodes, in lists or by paths. docs/adr/0006-cuda-kernels.md
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

/// The rows of a node that move to its children, or, if it stays a leaf, get their final positions.
struct MoveJob {
  NodeIndex node;
  std::int32_t family;  ///< for a leaf: the complement of its number in the finished tree
  std::uint32_t first_item;
};

/// The rows of a node that are summed.
struct SumJob {
  NodeIndex node;
  std::int32_t slot;
  std::uint32_t first_unit;
};

/// Rows in lists: the rows of a node are contiguous in one of two arrays. Arrays are on the device.
struct RowLists {
  RowRecord* lists[2];            ///< [rows]
  NodeIndex* positions;           ///< [rows] final leaf of each row
  GradientPair const* gradients;  ///< [rows]; a sample's gradients are divided by the chances
  MoveJob* move_jobs;
  SumJob* sum_jobs;
  std::uint32_t item_rows;  ///< rows that a warp divides at a time, a multiple of 32, at most 1024
  std::uint32_t unit_rows;  ///< rows of one unit of the summing kernel
  bool of_page{false};      ///< the nodes have rows in other pages, too: sums are added to the histograms
};

/// The division of rows, apart from the rows.
struct PartitionView {
  GrowingTree tree;
  DeviceMatrixView matrix;      ///< with a copied sample, it has the sample's rows only
  DeviceCategories categories;  ///< of the splits
  DeviceHistograms histograms;  ///< the division clears slots on the way
  GradientState const* gradient;
};

/// Returns true if a row's step from node to node is too short to record the node of the first move.
inline bool WalksInBytes(DeviceMatrixView const& matrix, bool categories) {
  return matrix.tiles == 1 && matrix.symbol_bytes == 1 && !categories;
}

// Rows of the root.

/// Writes the shard's rows with their gradients to list 0, sums them, and makes the root with the sum over all devices
/// and histogram slot 0. (start_lists_cuda.cu)
void ListRootRows(PartitionView const& view, RowLists const& rows, TreeDraw const* draw, DeviceShard const& shard,
                  DeviceLimits const& limits, cudaStream_t stream);
/// ListRootRows for the rows of a sample, which are in list 0, or copied. With copies the matrix of `view` and the
/// lists are the copy's.
void ListSampledRows(PartitionView const& view, RowLists const& rows, TreeDraw const* draw, SampleView const& sample,
                     DeviceShard const& shard, DeviceLimits const& limits, cudaStream_t stream);
/// Writes gradients in the order of rows to `narrow`, if the format is narrow and they are not there yet. Sums them
/// over all devices, makes the root, its group and its sum job, keeps the maxima for the next tree, and clears
/// RowPaths::next_path, if it exists. (start_paths_cuda.cu)
void StartPaths(PartitionView const& view, RowPaths const& paths, TreeDraw const* draw, EarlyGradients const& early,
                GradientPair const* gradients, NarrowGradient* narrow, DeviceShard const& shard,
                DeviceLimits const& limits, cudaStream_t stream);
/// StartPaths for the rows of a sample, in its order.
void StartSampledPaths(PartitionView const& view, RowPaths const& paths, TreeDraw const* draw, SampleView const& sample,
                       NarrowGradient* narrow, DeviceShard const& shard, DeviceLimits const& limits,
                       cudaStream_t stream);

// Rows of a level. Each function enqueues its work once for all nodes; none waits for the host.

/// In a final level the children are not evaluated: rows get their positions and stay in place.
enum class LevelKind { kInner, kFinal };
/// Moves rows to the children or writes their positions; the last block plans the sums. (partition_cuda.cu)
void MoveRows(PartitionView const& view, RowLists const& rows, LevelBounds const& bounds, LevelKind kind,
              DeviceLimits const& limits, cudaStream_t stream);
/// Writes the rows' paths at this level, and clears the slots that the level sums, unless they are clear.
/// (row_paths_cuda.cu)
void AdvancePaths(PartitionView const& view, RowPaths const& paths, LevelBounds const& bounds, PathStep step,
                  DeviceLimits const& limits, cudaStream_t stream);
/// Moves live rows into the order of this level's nodes, which become groups. Clears the slots that the level sums,
/// unless they are clear.
void MovePaths(PartitionView const& view, RowPaths const& paths, LevelBounds const& bounds, DeviceLimits const& limits,
               cudaStream_t stream);
/// Clears the slots that this level sums, if no earlier kernel has.
void ClearSums(PartitionView const& view, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PARTITION_CUDA_H_
