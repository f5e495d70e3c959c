/// Stage 2 on several CUDA devices: each has the bins of some rows, a *shard*.
#ifndef XGBGPU_MATRIX_SHARDS_CUDA_H_
#define XGBGPU_MATRIX_SHARDS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "matrix/device_matrix.h"
#include "matrix/page_policy_cuda.h"
#include "quantile/quantile_cuda.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/memory_limits.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// The rows of each shard: shard s has rows bounds[s] … bounds[s + 1] - 1, at least one, on device devices[s].
struct RowShards {
  std::vector<std::uint64_t> bounds;  ///< [shards + 1], from 0 to the number of rows
  std::vector<int> devices;           ///< [shards]; a device may have several shards
};

/// The host's resources for building shards.
struct ShardOptions {
  int threads;  ///< host threads for all shards together
  /// Device memory of each shard for raw data and scratch, as in BuildOptions; 0: as the policy says.
  std::size_t memory_bytes{0};
  /// Memory limits of a training on each device. If one device would exceed them, the bins of all shards are in pages.
  MemoryLimits limits{};
  DevicePagePolicy pages{};
};

/// Makes one matrix for each shard, with the cuts of all rows: bit for bit the cuts of BuildMatrix on one device.
///
/// All matrices have one layout: a cell has the same number in all histograms, and as in one matrix of all rows on such
/// a device. If memory is short, sparse tiles may be CSR in some shards, with the same numbers of cells.
///
/// Dense data that fit cross the link once: each device transposes its rows to columns of keys. For the cuts it sorts a
/// share of the columns, with the keys of all other rows copied from their devices. Columns that are too short for the
/// copies, or do not fit, are read from the source, each device its share, and rows are read again for their bins.
/// Devices read sparse data in turn.
///
/// In      source  an array is read by several threads at a time, batches by one
/// Cost    4 bytes a value on the devices, and the memory to sort at least one column of all rows
/// Throws  InvalidArgument as BuildMatrix, with numbers of rows in the source, and for invalid bounds or devices;
///         OutOfDeviceMemory, DeviceError. Leaves nothing behind on any device, and no thread
std::vector<std::unique_ptr<DeviceMatrix>> BuildShards(RowSource const& source, CutRequest const& wanted,
                                                       RowShards const& shards, ShardOptions const& options);

/// The same with given cuts, as QuantiseMatrix on one device.
std::vector<std::unique_ptr<DeviceMatrix>> QuantiseShards(RowSource const& source, Cuts const& cuts,
                                                          RowShards const& shards, ShardOptions const& options);

/// BuildShards for the shard of this process, if every process of `group` has one. All processes call it at the same
/// time. Returns null in all if the columns of one do not fit its device at once: the cuts are then found elsewhere.
/// Throws  as BuildShards in a failed process; OtherShardFailed in all other processes
std::unique_ptr<DeviceMatrix> BuildOwnShard(RowSource const& source, CutRequest const& wanted, int device, int threads,
                                            Collective* group, MemoryLimits const& limits = {});

/// QuantiseShards for the shard of this process, in the same way.
std::unique_ptr<DeviceMatrix> QuantiseOwnShard(RowSource const& source, Cuts cuts, int device, int threads,
                                               Collective* group, MemoryLimits const& limits = {});

/// Divides `columns` columns into `parts` ranges with about equal numbers of values: sizes [columns], or 1 each if
/// `sizes` is empty. Ranges may be empty.
std::vector<ColumnRange> ShareColumns(FeatureIndex columns, Span<std::uint64_t const> sizes, std::size_t parts);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_SHARDS_CUDA_H_
