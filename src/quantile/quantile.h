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
/// The ranks are those of XGBoost's last pruning step on an exactly sorted column. A column of few distinct values gets
/// one bin for each. Rows of weight 0 move no quantile. They count for min_values and for the last cut of a feature
/// (fit_cuts.h). A column without values gets one empty bin, a categorical column a bin for each category (categories.h).
///
/// In      source   read once, and at most twice more for every kColumnBufferValues values; as an array if it is one
///         weights  [rows] or empty
///         collective  source and weights are one shard's; the cuts are of all shards' rows
///         memory_bytes  memory limit of the search in each shard, or 0: none; the smallest of the shards' limits
///                       holds. The search sorts columns in groups that fit, or counts keys (ComputeCutsByCounting),
///                       whichever takes fewer passes
/// Cost    radix sort, three passes over each column; memory: 4 bytes (8 with weights) per value in flight, and as much
///         for a thread's column
/// Same    bit-equal for any number of threads, batches and shards, any memory and any order of rows: ranks are
///         integers
/// Throws  InvalidArgument (max_bin; weights: size, negative, NaN; an infinite value, with row and feature; shards with
///         different numbers of features, or with weights and without)
Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int threads,
                 Collective& collective = NoOtherShards(), std::size_t memory_bytes = 0);

/// Finds the cuts of data that hold lower bin edges instead of values (Dataset::FromBinEdges). Such data lack the upper
/// end of a feature's last bin. It becomes the largest float, or infinity if the bin begins beyond half of that.
/// Throws InvalidArgument (more than kMaxBinLimit bins; an infinite value).
Cuts CutsFromBinEdges(RowSource const& source, int threads, Collective& collective = NoOtherShards(),
                      std::size_t memory_bytes = 0);

/// Finds the cuts of ComputeCuts without holding a column: counts values by their sort keys (counted_columns.h).
///
/// In      memory_bytes  of counters, at least 32 KB; the smallest of the shards' limits holds
///         source        read three times if `memory_bytes` suffice for all columns: first with 4096 counters a column,
///                       then twice with 1024 for each rank. A counter takes 4 bytes, with weights 8. Otherwise
///                       columns, or ranks, wait for another pass. Read once more if a feature is categorical, and
///                       once more if a row has the weight 0
/// Cost    key_counter_host.h
/// Same    the cuts of ComputeCuts, bit for bit
/// Throws  as ComputeCuts
Cuts ComputeCutsByCounting(RowSource const& source, Span<float const> weights, int max_bin, int threads,
                           std::size_t memory_bytes, Collective& collective = NoOtherShards());

/// Finds the cuts of CutsFromBinEdges in the same way.
Cuts CutsFromBinEdgesByCounting(RowSource const& source, int threads, std::size_t memory_bytes,
                                Collective& collective = NoOtherShards());

}  // namespace xgbgpu::host

/// Only in builds with the CUDA backend. Also throws OutOfDeviceMemory and DeviceError.
namespace xgbgpu::cuda {

/// Finds the cuts of host::ComputeCuts on a device: uploads and sorts columns there, and copies only cuts back.
///
/// In      source  read once for every group of columns that fits the free memory, and once more if it is sparse and
///                 does not fit at once. Dense columns take 4 bytes a value, and 16 more during their sort, or 8 if
///                 they are long (QuantilePolicy::key_sort_from). Sparse values take 16. With weights the sort takes 32
/// Cost    the copy of the data to the device; host threads pack one piece during the copy of the piece before
/// Throws  InvalidArgument as host::ComputeCuts; with dense data also for a feature twice in one row
Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int device, int threads);

/// Finds the cuts of host::CutsFromBinEdges on a device.
Cuts CutsFromBinEdges(RowSource const& source, int device, int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_QUANTILE_H_
