/// Sums of sparse matrices in tiles, in shared memory.
#ifndef XGBGPU_HISTOGRAM_SPARSE_TILES_CUDA_H_
#define XGBGPU_HISTOGRAM_SPARSE_TILES_CUDA_H_

#include <cuda_runtime_api.h>

#include "level/device_tree.h"

namespace xgbgpu::cuda {

/// SumRows of a matrix that is sparse in tiles.
void SumSparseTiles(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_SPARSE_TILES_CUDA_H_
