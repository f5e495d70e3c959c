/// Stage 1 on a CUDA device, with data for the next stage. CUDA builds only.
#ifndef XGBGPU_QUANTILE_QUANTILE_CUDA_H_
#define XGBGPU_QUANTILE_QUANTILE_CUDA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/device.h"
#include "quantile/columns_cuda.h"
#include "quantile/cut_request.h"
#include "quantile/feature_cuts.h"
#include "quantile/key_shards_cuda.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

struct Quantiles {
  Cuts cuts;
  std::vector<std::uint64_t> present;  ///< [features] number of values that are not missing
  /// The data, if they are dense and fit the device at once. The next stage need not read them again.
  std::optional<KeyColumns> columns;
};

/// Finds cuts on the current device. `arena` must outlive the columns.
Quantiles FindQuantiles(RowSource const& source, CutRequest const& wanted, BuildOptions const& options,
                        DeviceArena* arena);

/// Cuts of neighbouring columns. A column's cuts are independent of all other columns.
struct ColumnCuts {
  std::vector<FeatureCuts> features;   ///< [columns]; categorical features are treated as numbers
  std::vector<std::uint64_t> present;  ///< [columns] number of values that are not missing
};

/// Finds the cuts of one or more columns over all rows on the current device. `weights` have been checked.
///
/// In      sizes  [features] numbers of values of the columns, to read the source as entries; empty: read it as dense
///                rows
/// Cost    FindQuantiles for these columns; reads all entries, or an array's columns
/// Throws  as FindQuantiles
ColumnCuts FindColumnCuts(RowSource const& source, ColumnRange const& columns, Span<std::uint64_t const> sizes,
                          CutRequest const& wanted, BuildOptions const& options, DeviceArena* arena);

/// Finds the cuts of columns that lie on devices. Reads no value of `source`, which has their rows.
/// Throws  OutOfDeviceMemory, DeviceError
ColumnCuts FindColumnCuts(RowSource const& source, KeyShards const& shards, ColumnRange const& columns,
                          CutRequest const& wanted, BuildOptions const& options, DeviceArena* arena);

/// Returns the number of stored entries, NaNs included. An array stores all its values. Reads no entry.
std::uint64_t CountEntries(RowSource const& source);

/// Returns true if a source with `entries` entries is read as dense rows.
bool ReadAsColumns(RowSource const& source, std::uint64_t entries);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_QUANTILE_CUDA_H_
