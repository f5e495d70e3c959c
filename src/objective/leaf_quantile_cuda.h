/// Adaptive leaves on a CUDA device.
#ifndef XGBGPU_OBJECTIVE_LEAF_QUANTILE_CUDA_H_
#define XGBGPU_OBJECTIVE_LEAF_QUANTILE_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/device.h"
#include "objective/leaf_quantile.h"

namespace xgbgpu::cuda {

/// Memory of quantiles, reused by every tree: 16 bytes a row, 24 with weights, and the scratch of the sort. Later calls
/// do not read its contents. `arena` must outlive it.
struct LeafQuantileScratch {
  explicit LeafQuantileScratch(DeviceArena* owner) : arena{owner} {}

  DeviceArena* arena;
  DeviceBuffer<std::uint64_t> keys[2];
  DeviceBuffer<std::uint32_t> rows[2];
  DeviceBuffer<char> sort;
};

/// Enqueues host::ComputeResiduals for margins without gaps. All arrays are on the device.
void ComputeResiduals(float const* labels, float const* margins, std::uint64_t rows, float* residuals,
                      DeviceLimits const& limits, cudaStream_t stream);

/// Enqueues host::QuantileLeaves. Only the first call, which takes memory, may wait. All arrays are on the device.
///
/// Cost  A radix sort of all rows by leaf and residual, and a search for each node. With weights, whose sums stock
///       rounds one after another, a lane adds the weights of its leaf: about 2 ms for a million rows in one leaf.
void QuantileLeaves(NodeIndex const* positions, float const* residuals, float const* weights, double alpha,
                    std::uint64_t rows, float* node_values, std::size_t nodes, LeafQuantileScratch* scratch,
                    DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_LEAF_QUANTILE_CUDA_H_
