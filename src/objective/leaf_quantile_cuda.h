/// Adaptive leaves on a CUDA device.
#ifndef XGBGPU_OBJECTIVE_LEAF_QUANTILE_CUDA_H_
#define XGBGPU_OBJECTIVE_LEAF_QUANTILE_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "collective/collective_cuda.h"
#include "cuda/device.h"
#include "objective/leaf_quantile.h"
#include "objective/leaf_quantile_ops.h"

namespace xgbgpu::cuda {

/// The state of the search for one leaf's quantile. Several devices hold the leaf's rows.
struct LeafSearch {
  QuantilePlace place;
  std::uint64_t rank[2];  ///< of the residual at `place.low` and of the next one, among residuals with the key's bits
  std::uint32_t key[2];   ///< the known upper bits of both residuals
  bool has_rows;
};

/// Memory of quantiles, reused by every tree: 16 bytes a row, 24 with weights, and the scratch of the sort; with other
/// devices 312 bytes a node. Later calls do not read its contents. `arena` must outlive it.
struct LeafQuantileScratch {
  explicit LeafQuantileScratch(DeviceArena* owner) : arena{owner} {}

  DeviceArena* arena;
  DeviceBuffer<std::uint64_t> keys[2];
  DeviceBuffer<std::uint32_t> rows[2];
  DeviceBuffer<char> sort;
  DeviceBuffer<LeafSearch> searches;
  DeviceBuffer<std::int64_t> counts;

  /// Takes memory for `row_count` rows.
  void ReserveFor(std::uint64_t row_count, bool weighted);
};

/// Enqueues host::ComputeResiduals for margins without gaps. All arrays are on the device.
void ComputeResiduals(float const* labels, float const* margins, std::uint64_t rows, float* residuals,
                      DeviceLimits const& limits, cudaStream_t stream);

/// Enqueues host::QuantileLeaves. Only the first call, which takes memory, may wait. All arrays are on the device. Each
/// of `devices` passes its own rows. All devices make the call at the same time. With other devices every device has
/// rows, and none has weights.
///
/// Cost  A radix sort of all rows by leaf and residual, and a search for each node. With weights a lane adds the
///       weights of its leaf one after another, as stock rounds the sums: about 2 ms for a million rows in one leaf.
///       With other devices nine exchanges, the largest of 256 bytes a node.
void QuantileLeaves(NodeIndex const* positions, float const* residuals, float const* weights, double alpha,
                    std::uint64_t rows, float* node_values, std::size_t nodes, LeafQuantileScratch* scratch,
                    DeviceLimits const& limits, cudaStream_t stream,
                    DeviceCollective* devices = NoOtherDevices::Instance());

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_LEAF_QUANTILE_CUDA_H_
