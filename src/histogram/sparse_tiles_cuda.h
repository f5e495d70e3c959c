/// Sums of sparse matrices in tiles, in shared memory.
#ifndef XGBGPU_HISTOGRAM_SPARSE_TILES_CUDA_H_
#define XGBGPU_HISTOGRAM_SPARSE_TILES_CUDA_H_

#include <cuda_runtime_api.h>

#include "histogram/histogram_cuda.h"

namespace xgbgpu::cuda {

/// SumRows for a matrix that is sparse in tiles.
void SumSparseTiles(HistogramView const& view, RowLists const& rows, Node const* nodes, LevelBounds const& bounds,
                    DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_SPARSE_TILES_CUDA_H_
