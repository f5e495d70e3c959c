/// The levels of a tree of histograms on a CUDA device: five calls each. This is the page to read first.
///
/// Nothing here waits for the device. With one device and one page, the calls in between enqueue nothing.
#ifndef XGBGPU_DRIVER_HIST_LEVELS_CUDA_H_
#define XGBGPU_DRIVER_HIST_LEVELS_CUDA_H_

#include <cstdint>

#include "driver/tree_parts_cuda.h"
#include "tree/tree_shape.h"

namespace xgbgpu::cuda {

/// An unattended tree, whose nodes the device chooses: enqueues the levels from `first` on, up to the splits of the
/// last one before `end`. Rows in lists are then divided by these splits, too.
void EnqueueLevels(TreeParts const& parts, TreeShape const& shape, int first, int end);

/// An attended tree, whose `families` the host has chosen, or the root: enqueues one batch of nodes. `batch` is its
/// number, 0 for the root.
void EnqueueBatch(TreeParts const& parts, std::uint32_t families, int batch);

// A tree in pages, if parts.in_pages(). A step visits every page once, for the first step.families families, whose
// children have been made; between the first two calls below and the third there is one of VisitPage for each page.

/// What a batch does: the root's, number 0, is not divided. `evaluates`: may the new nodes be split? If not, their rows
/// are divided, and no more.
NodeRowsStep BeginStep(TreeParts const& parts, std::uint32_t families, int batch, bool evaluates);
/// Clears the sums of the step.
void ClearStep(TreeParts const& parts, NodeRowsStep const& step);
void VisitPage(TreeParts const& parts, NodeRowsStep const& step, Page<DeviceMatrixView> const& page, int batch);
/// Looks for splits, if the step has sums.
void EndStep(TreeParts const& parts, NodeRowsStep const& step, int batch);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_DRIVER_HIST_LEVELS_CUDA_H_
