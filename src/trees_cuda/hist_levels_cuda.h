/// The levels of a tree of histograms on a CUDA device: five calls each. This is the page to read first.
///
/// Nothing here waits for the device. With one device and one page, the calls in between enqueue nothing.
#ifndef XGBGPU_TREES_CUDA_HIST_LEVELS_CUDA_H_
#define XGBGPU_TREES_CUDA_HIST_LEVELS_CUDA_H_

#include <cstdint>

#include "tree/tree_shape.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// Enqueues the levels [first, end) of a device-driven tree, up to the splits of the last one. Rows in lists are then
/// divided by the splits of the last level, too.
void EnqueueLevels(TreeParts const& parts, TreeShape const& shape, int first, int end);

/// The choice of the host for a batch: the root, or families.
struct BatchSizes {
  std::uint32_t families;
  std::uint32_t siblings;  ///< LevelBounds::siblings
};

/// Enqueues one batch of nodes of a host-driven tree. `batch` is its number, 0 for the root.
void EnqueueBatch(TreeParts const& parts, BatchSizes const& sizes, int batch);

// A tree in pages (parts.in_pages()) grows in steps: BeginStep, VisitPage for every page, EndStep. Several trees may
// take their steps together, so that a page comes once for all of them.

/// Makes the children of the batch. Step 0 makes the root. `evaluates`: the new nodes may be split. Otherwise pages
/// only divide their rows.
PageStep BeginStep(TreeParts const& parts, BatchSizes const& sizes, int number, bool evaluates);
/// Clears the sums of a step. Its children have been made elsewhere.
void ClearStep(TreeParts const& parts, PageStep const& step);
/// Sends the rows of the page to the children, and sums the rows of the built children.
void VisitPage(TreeParts const& parts, PageStep const& step, Page<DeviceMatrixView> const& page, int number);
/// Sums over devices, and looks for the splits of the children.
void EndStep(TreeParts const& parts, PageStep const& step, int number);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_HIST_LEVELS_CUDA_H_
