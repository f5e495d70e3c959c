/// All that a tree of histograms has on a CUDA device while it grows, host-driven or device-driven.
#ifndef XGBGPU_TREES_CUDA_TREE_PARTS_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_PARTS_CUDA_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "collective/collective_cuda.h"
#include "cuda/cleared_workspace.h"
#include "cuda/device.h"
#include "cuda/timeline.h"
#include "gradient/gradient_cuda.h"
#include "growth/grow_order_workspace_cuda.h"
#include "growth/plan_cuda.h"
#include "growth/tree_memory_cuda.h"
#include "histogram/histogram_cuda.h"
#include "histogram/histogram_workspace_cuda.h"
#include "matrix/device_matrix.h"
#include "matrix/page_stream_cuda.h"
#include "objective/objective_cuda.h"
#include "page/page.h"
#include "partition/list_workspace_cuda.h"
#include "partition/paged_rows_cuda.h"
#include "partition/path_workspace_cuda.h"
#include "sample/sample.h"
#include "sample/sample_workspace_cuda.h"
#include "split/level_search_cuda.h"
#include "split/split_shares.h"
#include "split/split_workspace_cuda.h"
#include "xgbgpu/params.h"

namespace xgbgpu::cuda {

/// What the trees of a matrix are grown from, and the memory that they grow in. Rows go in lists or by paths, or, if the
/// matrix is in pages and they are not copied, each knows its node.
struct TreeParts {
  /// `arena`, `stream`, `pages` and what `shard` refers to must outlive this. Histograms get at most `histogram_budget`
  /// bytes, the same on all devices. `pages`: of the matrix, visited on this stream; null: the matrix is in core.
  TreeParts(DeviceMatrix const& matrix, PageStream* pages, DeviceShard const& shard, DeviceArena* arena,
            Stream const& stream, std::size_t histogram_budget);

  DeviceMatrix const& matrix;
  DeviceShard shard;
  Stream const& stream;
  DeviceLimits limits;
  StageTimer timer;
  ClearedWorkspace workspace;
  std::uint32_t symbols{1};  ///< number of symbols of the largest tile

  TreeMemory memory;
  HistogramWorkspace histograms;
  SplitWorkspace splits;
  SplitShares shares;  ///< of the features that each device searches; not used where every device searches all
  LevelSearchWorkspace level_search;  ///< of symmetric trees
  ListWorkspace lists;
  PathWorkspace paths;
  PagedRowsWorkspace paged_rows;
  PageStream* page_stream;  ///< null: the matrix is in core
  GrowOrderWorkspace order;
  SampleWorkspace sample_workspace;
  DeviceBuffer<GradientMaxima> maxima_before;  ///< EarlyGradients::maxima_before
  /// [rows] leaf of each row, if lists have left it or somebody has asked. In pages: the node of each row
  DeviceBuffer<NodeIndex> positions;

  // These belong to the tree that grows now.
  TrainParams params;
  std::optional<FeatureSampler> features;
  DeviceGradients gradients;
  std::optional<RowLosses> losses;       ///< if given, the tree computes its gradients from these
  std::function<DeviceGradients()> all;  ///< with `losses`: returns gradients of all rows, should they be needed
  std::uint32_t number{0};
  bool by_paths{false};
  bool copies_sample{false};  ///< does the tree grow on a copy of the sample's rows?

  bool symmetric() const { return params.grow_policy == GrowPolicy::kSymmetric; }
  /// Does each device search a share of the features? The split of a level is found by every device.
  bool searches_shares() const { return shares.used() && !symmetric(); }
  bool timed() const { return timer.timeline() != nullptr; }
  bool sampled() const { return params.SamplesRows(); }
  /// Do gradients decide which rows are in the sample? They are then divided by the row's chance.
  bool weighted() const { return sampled() && params.sampling_method != SamplingMethod::kUniform; }
  /// Is the tree's matrix in pages? Not if it is a copy of the sample's rows.
  bool in_pages() const { return page_stream != nullptr && !copies_sample; }

  /// Is something true of any device? All devices ask at the same time.
  bool AnyDevice(bool own) const { return shard.alone() ? own : shard.place.collective->AnyOf(own); }
  /// Returns when all devices have taken and given back what memory they will. A device that gives memory back may wait
  /// for what runs on others: nothing may wait there for this device.
  void WaitUntilAllHaveRoom() const { AnyDevice(false); }
  /// Returns the matrix that the tree is grown on: a copy of the sample's rows, or all of them.
  DeviceMatrixView const& tree_matrix() const { return copies_sample ? sample_workspace.copy() : matrix.view; }
  /// Returns the pages of tree_matrix(). In core there is one.
  Pages<DeviceMatrixView> pages() const { return in_pages() ? pages_of_all() : Pages<DeviceMatrixView>{tree_matrix()}; }
  /// Returns the pages of all rows.
  Pages<DeviceMatrixView> pages_of_all() const {
    return page_stream ? Pages<DeviceMatrixView>{*page_stream} : Pages<DeviceMatrixView>{matrix.view};
  }
  SampleView Sample() const;
  PartitionView Partition(DeviceMatrixView const& page) const;
  RowLists Lists() const;
  PagedRowsView PagedRows() const;
  RowPaths RootPaths() const;
  HistogramView Histogram(DeviceMatrixView const& page) const;
  SplitView Split() const;
  /// `rows` are the rows by paths, at the level that is planned; an empty view if rows are in lists.
  GrowthView Growth(RowPaths const& rows = {}) const;

  /// From now on the tree is grown on gradients of all rows.
  void UseAllGradients() {
    if (!losses) return;
    gradients = all();
    losses.reset();
  }
  /// Returns how many of its rows the device is expected to have room for, in the sample of a tree of `of`.
  std::uint32_t LikelySample(TrainParams const& of) const;
  /// Makes room for a sample of `rows` rows, if the sample is copied. Else lists have room for all rows, and in pages a
  /// sample is marked and takes none.
  void ReserveSample(std::uint32_t rows) {
    workspace.Note([&] {
      return in_pages() ? sample_workspace.ReserveMarks(weighted(), stream)
                        : sample_workspace.Reserve(copies_sample ? rows : 0, weighted(), stream);
    });
    if (in_pages() && weighted()) paged_rows.ReserveWeighed();
  }
  /// Enqueues all that comes before the root's histogram: settings, the sample, gradients in fixed point, the root with
  /// its rows. Clears the histograms of `clear_slots` slots.
  void EnqueueStart(std::size_t clear_slots);

 private:
  void EnqueueSample();
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_PARTS_CUDA_H_
