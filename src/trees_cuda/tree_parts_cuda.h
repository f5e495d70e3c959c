/// The parts of a tree of histograms on a CUDA device, host-driven or device-driven.
#ifndef XGBGPU_TREES_CUDA_TREE_PARTS_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_PARTS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "growth/grow_order_workspace_cuda.h"
#include "growth/plan_cuda.h"
#include "growth/tree_memory_cuda.h"
#include "matrix/device_matrix.h"
#include "matrix/page_stream_cuda.h"
#include "trees_cuda/tree_device_cuda.h"
#include "trees_cuda/tree_gradients_cuda.h"
#include "trees_cuda/tree_growth_cuda.h"
#include "trees_cuda/tree_histograms_cuda.h"
#include "trees_cuda/tree_request.h"
#include "trees_cuda/tree_rows_cuda.h"
#include "trees_cuda/tree_splits_cuda.h"

namespace xgbgpu::cuda {

/// Brings the parts together: each part knows the parts above it.
struct TreeParts {
  /// `arena`, `stream`, `pages`, `lists` and the targets of `shard` must outlive this object. Histograms get at most
  /// `histogram_budget` bytes, the same on all devices. `pages`: of the matrix, visited on this stream; null: the
  /// matrix is in core. `lists`: of the matrix, used by the trees of all streams. `outputs`: of trees of vectors. Their
  /// histograms have the cells of each output.
  TreeParts(DeviceMatrix const& matrix, PageStream* pages, ColumnLists* lists, DeviceShard const& shard,
            DeviceArena* arena, Stream const& stream, std::size_t histogram_budget, std::uint32_t outputs = 1);
  TreeParts(TreeParts const&) = delete;
  TreeParts& operator=(TreeParts const&) = delete;

  DeviceMatrix const& matrix;
  TreeDevice device;
  TreeRequest request;
  TreeMemory memory;         ///< nodes, settings
  GrowOrderWorkspace order;  ///< of the splits of a loss-guided tree
  TreeGradients gradients;
  TreeRows rows;
  TreeHistograms histograms;
  TreeSplits splits;

  /// Returns the settings of the tree that is requested.
  TreeSettings Settings(GrowthLimits const& limits) const;
  /// Returns the view for kernels that divide the rows of this page.
  PartitionView Partition(DeviceMatrixView const& page) const {
    return {memory.View(), page, splits.Categories(), histograms.View(), &memory.header()->gradient};
  }
  /// Returns the view for kernels that plan the next level. `paths`: the rows by paths, at the level that is planned;
  /// empty if rows do not go by paths.
  GrowthView Growth(RowPaths const& paths = {}) const {
    return {memory.settings(), splits.PlanReduces(), rows.Lists(), paths, order.View(), splits.level_nodes()};
  }
  /// Enqueues all work before the histogram of the root: settings, the sample, gradients in fixed point, the root with
  /// its rows. Clears the histograms of `clear_slots` slots.
  void EnqueueStart(std::size_t clear_slots) const {
    memory.Begin(histograms.View(), clear_slots * histograms.View().cells, device.limits);
    rows.EnqueueRoot(Partition(rows.matrix()));
  }

  /// Tells whether a tree can be recorded as a graph. A sample that is copied out of pages cannot.
  bool CanRecord() const { return device.CanRecord() && rows.in_core(); }
  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const {
    return std::tuple_cat(device.RecordingKey(), request.RecordingKey(), gradients.RecordingKey(), rows.RecordingKey(),
                          histograms.RecordingKey(), splits.RecordingKey());
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_PARTS_CUDA_H_
