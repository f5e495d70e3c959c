/// Counts sort keys on a device. CUDA builds only.
#ifndef XGBGPU_QUANTILE_COUNTED_COLUMNS_CUDA_H_
#define XGBGPU_QUANTILE_COUNTED_COLUMNS_CUDA_H_

#include <cstddef>
#include <memory>

#include "cuda/device.h"
#include "quantile/counted_columns.h"
#include "quantile/quantile_policy.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// Parameters of a count of keys.
struct KeyCounting {
  Span<float const> weights;  ///< [rows], or empty; checked
  double scale;               ///< of IntegerWeight
  bool as_rows;               ///< reads the source as dense rows (RowUpload), else as entries (PairUpload)
  int threads;
  std::size_t memory_bytes;  ///< on the device
  /// Least memory of the counters, even if the upload leaves less or one prefix takes more.
  std::size_t least_counter_bytes{QuantilePolicy{}.least_counter_bytes};
};

/// Returns counters on the current device, in the memory that the upload leaves. Source, weights and arena must outlive
/// the counters. The first count takes the memory.
///
/// Cost    a pass uploads the columns of the prefixes, or all entries, with their weights; each value takes a bisection
///         among its column's prefixes, and an atomic addition. A frequent value takes one addition for a warp.
///         Counters are copied to the host piece by piece
/// Throws  InvalidArgument as the uploads; OutOfDeviceMemory, DeviceError
std::unique_ptr<KeyCounter> MakeKeyCounter(RowSource const& source, KeyCounting const& how, DeviceArena* arena);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_COUNTED_COLUMNS_CUDA_H_
