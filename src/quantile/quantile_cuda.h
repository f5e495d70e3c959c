/// Stage 1 on a CUDA device, with what the next stage can use of it. CUDA builds only.
#ifndef XGBGPU_QUANTILE_QUANTILE_CUDA_H_
#define XGBGPU_QUANTILE_QUANTILE_CUDA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/device.h"
#include "quantile/columns_cuda.h"
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

/// Returns the number of stored entries, NaNs included; an array stores all its values. No entry is read.
std::uint64_t CountEntries(RowSource const& source);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_QUANTILE_CUDA_H_
