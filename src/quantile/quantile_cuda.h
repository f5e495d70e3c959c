/// Stage 1 on a CUDA device, with what the next stage can use of it. CUDA builds only.
#ifndef XGBGPU_QUANTILE_QUANTILE_CUDA_H_
#define XGBGPU_QUANTILE_QUANTILE_CUDA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/device.h"
#include "quantile/columns_cuda.h"
#include "quantile/feature_cuts.h"
#include "quantile/key_shards_cuda.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// Says which cuts are wanted: those of host::ComputeCuts with at most max_bin bins, or, if max_bin is 0, those of
/// host::CutsFromBinEdges.
struct CutsWanted {
  int max_bin;
  Span<float const> weights;  ///< [rows] or empty
};

struct Quantiles {
  Cuts cuts;
  std::vector<std::uint64_t> present;  ///< [features] values that are not missing
  /// The data themselves, if they are dense and fit the device at once. They need not be read again then.
  std::optional<KeyColumns> columns;
};

/// Finds cuts on the current device. `arena` must outlive the columns.
Quantiles FindQuantiles(RowSource const& source, CutsWanted const& wanted, BuildOptions const& options,
                        DeviceArena* arena);

/// Cuts of some neighbouring columns, of which no column's depend on those of another.
struct ColumnCuts {
  std::vector<FeatureCuts> features;   ///< [columns]; categorical ones as if they were not
  std::vector<std::uint64_t> present;  ///< [columns] values that are not missing
};

/// Finds the cuts of one or more columns, over all rows, on the current device. Weights have been checked.
///
/// In      sizes  [features] the numbers of values of the columns, if the source is to be read as entries. Empty: it
///                is read as rows, in which every value has a place
/// Cost    that of FindQuantiles for these columns; all entries are read, and of an array these columns
/// Throws  as FindQuantiles
ColumnCuts FindColumnCuts(RowSource const& source, ColumnRange const& columns, Span<std::uint64_t const> sizes,
                          CutsWanted const& wanted, BuildOptions const& options, DeviceArena* arena);

/// Does the same with columns that lie on devices. Of `source`, which has the same rows, no value is read.
/// Throws  OutOfDeviceMemory, DeviceError
ColumnCuts FindColumnCuts(RowSource const& source, KeyShards const& shards, ColumnRange const& columns,
                          CutsWanted const& wanted, BuildOptions const& options, DeviceArena* arena);

/// Returns the number of stored entries, NaNs included; arrays store all their values. No entry is read.
std::uint64_t CountEntries(RowSource const& source);

/// Tells whether a source with so many entries is read as rows in which every value has a place.
bool ReadAsColumns(RowSource const& source, std::uint64_t entries);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_QUANTILE_CUDA_H_
