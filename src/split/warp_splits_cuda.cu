// Decides if blocks that find splits by warps fit a device.
#include "split/warp_find_splits_cuda.cuh"

namespace xgbgpu::cuda {

bool WarpSplitsFit(DeviceLimits const& limits) { return kWarpSplitBytes + kWarpSplitStaticBytes <= limits.block_bytes; }

}  // namespace xgbgpu::cuda
