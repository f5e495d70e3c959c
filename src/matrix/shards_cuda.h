/// Stage 2 on several CUDA devices: each has the bins of some of the rows, a *shard*.
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

/// Says which rows are whose: shard s has rows bounds[s] … bounds[s + 1] - 1, one at least, on device devices[s].
struct RowShards {
  std::vector<std::uint64_t> bounds;  ///< [shards + 1], from 0 to the number of rows
  std::vector<int> devices;           ///< [shards]; a device may have several shards
};

/// The host's part in building shards.
struct ShardOptions {
  int threads;  ///< of the host, for all shards together
  /// Device memory of each shard for raw data and scratch; 0: as the policy says. BuildOptions has the same.
  std::size_t memory_bytes{0};
  /// What a training may take on each device. If it would take more on one of them, the bins of all shards are in
  /// pages.
  MemoryLimits limits{};
  DevicePagePolicy pages{};
};

/// Makes one matrix for each shard, with the cuts of all rows: those that BuildMatrix finds on one device, bit for bit.
///
/// All matrices have one layout, so that cells of their histograms have the same numbers, which are those of one
/// matrix of all rows on such a device. Only sparse tiles may be CSR in some shards, where memory is short; their cells
/// are numbered alike, too.
///
/// Dense data, if they fit, cross the link once: each device turns its rows into columns of keys. For the cuts it then
/// sorts a share of the columns, for which it copies the other rows' keys from the devices where they lie. Columns that
/// are too short for that, or do not fit, are read from the source, on each device its share of them, and rows again
/// for their bins. Sparse data are read by one device after the other.
///
/// In      source  an array is read by several threads at a time, batches by one
/// Cost    4 bytes a value on the devices, and what a device needs to sort one column of all rows or more
/// Throws  InvalidArgument as BuildMatrix, with numbers of rows as in the source, and for bounds or devices that make
/// no         sense; OutOfDeviceMemory, DeviceError. Nothing is left on any device then, and no thread
std::vector<std::unique_ptr<DeviceMatrix>> BuildShards(RowSource const& source, CutsWanted const& wanted,
                                                       RowShards const& shards, ShardOptions const& options);

/// Does the same with cuts that are given, as QuantiseMatrix does on one device.
std::vector<std::unique_ptr<DeviceMatrix>> QuantiseShards(RowSource const& source, Cuts const& cuts,
                                                          RowShards const& shards, ShardOptions const& options);

/// Does what QuantiseShards does for the shard of this process, when every process of `group` has one. All call it at
/// the same time.
/// Throws  as QuantiseShards, where it fails; OtherShardFailed in the other processes
std::unique_ptr<DeviceMatrix> QuantiseOwnShard(RowSource const& source, Cuts cuts, int device, int threads,
                                               Collective* group, MemoryLimits const& limits = {});

/// Divides `columns` columns into a range for each of `parts`, so that numbers of values, sizes [columns] or 1 for each
/// if there are none, are about the same. Ranges may be empty.
std::vector<ColumnRange> ShareColumns(FeatureIndex columns, Span<std::uint64_t const> sizes, std::size_t parts);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_SHARDS_CUDA_H_
