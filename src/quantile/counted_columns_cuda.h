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

/// How keys are counted.
struct KeyCounting {
  Span<float const> weights;  ///< [rows], or empty; they have been checked
  double scale;               ///< of IntegerWeight
  bool as_rows;               ///< the source is read as dense rows (RowUpload), else as entries (PairUpload)
  int threads;
  std::size_t memory_bytes;  ///< on the device
  /// Counters take so much even if the upload leaves less, and as much as one prefix takes.
  std::size_t least_counter_bytes{QuantilePolicy{}.least_counter_bytes};
};

/// Returns counters on the current device, in the memory that the upload leaves. Source, weights and arena must outlive
/// it. Memory is taken when keys are first counted.
///
/// Cost    a pass uploads the columns of which something is counted, or all entries, with the weights beside; each
///         value takes a bisection among the prefixes of its column, and an atomic addition. A value that many rows
///         have takes one addition for a warp. Counters are copied to the host piece by piece
/// Throws  InvalidArgument as the uploads; OutOfDeviceMemory, DeviceError
std::unique_ptr<KeyCounter> MakeKeyCounter(RowSource const& source, KeyCounting const& how, DeviceArena* arena);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_COUNTED_COLUMNS_CUDA_H_
