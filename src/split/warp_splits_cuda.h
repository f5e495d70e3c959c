/// Splits of trees on many features of sparse matrices.
#ifndef XGBGPU_SPLIT_WARP_SPLITS_CUDA_H_
#define XGBGPU_SPLIT_WARP_SPLITS_CUDA_H_

#include <cuda_runtime_api.h>

#include "level/device_tree.h"

namespace xgbgpu::cuda {

/// Does the device have the shared memory that its blocks need? Not before compute capability 8.0.
bool WarpSplitsFit(DeviceLimits const& limits);

/// FindSplits of a tree that has DeviceTree::warp_groups, hence is grown from lists; but for the next level's splits
/// where there is an order.
void FindSplitsByWarps(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, DeviceLimits const& limits,
                       cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_WARP_SPLITS_CUDA_H_
