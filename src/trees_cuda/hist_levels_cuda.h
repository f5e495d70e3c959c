/// The levels of a tree of histograms on a CUDA device: five calls each. This is the page to read first.
///
/// Nothing here waits for the device. With one device and one page, the calls in between enqueue nothing.
#ifndef XGBGPU_TREES_CUDA_HIST_LEVELS_CUDA_H_
#define XGBGPU_TREES_CUDA_HIST_LEVELS_CUDA_H_

#include <cstdint>

#include "tree/tree_shape.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// A device-driven tree, whose nodes the device chooses: enqueues the levels from `first` on, up to the splits of the
/// last one before `end`. Rows in lists are then divided by these splits, too.
void EnqueueLevels(TreeParts const& parts, TreeShape const& shape, int first, int end);

/// What the host has chosen for a batch: the root, or families.
struct BatchSizes {
  std::uint32_t families;
  std::uint32_t siblings;  ///< LevelBounds::siblings
};

/// A host-driven tree: enqueues one batch of nodes. `batch` is its number, 0 for the root.
void EnqueueBatch(TreeParts const& parts, BatchSizes const& sizes, int batch);

// A tree in pages (parts.in_pages()) grows in steps: BeginStep, VisitPage for every page, EndStep. Several trees may take
// their steps together, so that a page comes once for all of them.

/// Makes the children of the batch. Step 0 is the root's. `evaluates`: may the new nodes be split? If not, pages only
/// divide their rows.
PageStep BeginStep(TreeParts const& parts, BatchSizes const& sizes, int number, bool evaluates);
/// Does the part of BeginStep that is left where the children have been made: it clears what the step sums.
void ClearStep(TreeParts const& parts, PageStep const& step);
/// Rows of the page go to the children, and those of the built children are summed.
void VisitPage(TreeParts const& parts, PageStep const& step, Page<DeviceMatrixView> const& page, int number);
/// Sums over devices, and looks for the splits of the children.
void EndStep(TreeParts const& parts, PageStep const& step, int number);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_HIST_LEVELS_CUDA_H_
