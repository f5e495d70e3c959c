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

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_DRIVER_HIST_LEVELS_CUDA_H_
