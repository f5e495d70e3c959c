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
/// number, 0 for the root. `evaluates`: may the new nodes be split? If not, their rows are divided, and no more.
void EnqueueBatch(TreeParts const& parts, std::uint32_t families, int batch, bool evaluates);

/// A matrix in pages, if parts.in_pages(): one visit of all pages for the first `families` families, whose children have
/// been made. divides: their rows go to the children; else the only family is the root. sums: the rows of jobs
/// (partition/node_rows_cuda.h) are summed.
void VisitPages(TreeParts const& parts, std::uint32_t families, bool divides, bool sums, int level);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_DRIVER_HIST_LEVELS_CUDA_H_
