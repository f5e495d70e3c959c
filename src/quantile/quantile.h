/// Stage 1: rows → cuts. Exact: every column is sorted, nothing is sketched.
#ifndef XGBGPU_QUANTILE_QUANTILE_H_
#define XGBGPU_QUANTILE_QUANTILE_H_

#include <cstddef>

#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Finds cut points at weighted quantiles of every column, at most max_bin bins a feature.
///
/// The ranks are chosen as XGBoost's last pruning step chooses them on an exactly sorted column; a column of few
/// distinct values gets one bin for each. Rows of weight 0 are skipped. A column without values gets one empty bin, a
/// categorical one a bin for each category (categories.h).
///
/// In      source   read once, and at most twice more for every kColumnBufferValues values; as an array if it is one
///         weights  [rows] or empty
///         collective  the source and the weights are those of one shard's rows; the cuts are those of all
///         memory_bytes  what finding cuts may take in each shard, or 0: any; if shards differ, the least counts.
///                  Columns are sorted in groups that fit, or keys are counted (ComputeCutsByCounting): whatever reads
///                  the source less often
/// Cost    radix sort, three passes over each column; memory: 4 bytes (8 with weights) per value in flight, and
///         as much for a thread's column
/// Same    bit-equal for any number of threads, batches and shards, any memory and any order of rows: ranks are
///         integers
/// Throws  InvalidArgument (max_bin; weights: size, negative, NaN; an infinite value, with row and feature; shards of
///         different numbers of features, or with weights and without)
Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int threads,
                 Collective& collective = NoOtherShards(), std::size_t memory_bytes = 0);

/// Finds the cuts of data that hold lower bin edges instead of values (Dataset::FromBinEdges). The upper end of a
/// feature's last bin is not in such data; it becomes the largest float, or infinity, if that bin begins beyond half of
/// it.
/// Throws InvalidArgument (more than kMaxBinLimit bins; an infinite value).
Cuts CutsFromBinEdges(RowSource const& source, int threads, Collective& collective = NoOtherShards(),
                      std::size_t memory_bytes = 0);

/// Finds the cuts of ComputeCuts without holding a column: values are counted by their sort keys (counted_columns.h).
///
/// In      memory_bytes  of counters; if it is less than 32 KB it is that much. If shards differ, the least counts
///         source        read three times if `memory_bytes` suffice for all columns: first for 4096 counters a column,
///                       then for 1024 for each rank. A counter takes 4 bytes, with weights 8. Else columns, or ranks,
///                       wait for another pass. The source is read once more if a feature is categorical
/// Cost    key_counter_host.h
/// Same    the cuts of ComputeCuts, bit for bit
/// Throws  as ComputeCuts
Cuts ComputeCutsByCounting(RowSource const& source, Span<float const> weights, int max_bin, int threads,
                           std::size_t memory_bytes, Collective& collective = NoOtherShards());

/// Finds the cuts of CutsFromBinEdges in the same way.
Cuts CutsFromBinEdgesByCounting(RowSource const& source, int threads, std::size_t memory_bytes,
                                Collective& collective = NoOtherShards());

}  // namespace xgbgpu::host

/// Only in builds with the CUDA backend. Throws OutOfDeviceMemory and DeviceError, too.
namespace xgbgpu::cuda {

/// Finds the cuts of host::ComputeCuts on a device: columns are uploaded and sorted there, and only cuts come back.
///
/// In      source  read once for every group of columns that fits the free memory, and once more if it is sparse and
///                 does not fit at once. Dense columns take 4 bytes a value, and 16 more while they are sorted, or 8 if
///                 they are long (QuantilePolicy::key_sort_from). Sparse values take 16. With weights it is always 32
///                 instead of 16 or 8
/// Cost    the copy of the data to the device; host threads pack one piece while the one before is copied
/// Throws  InvalidArgument as host::ComputeCuts; a feature twice in one row is found here already if the data are dense
Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int device, int threads);

/// Does what host::CutsFromBinEdges does, on a device.
Cuts CutsFromBinEdges(RowSource const& source, int device, int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_QUANTILE_H_
