/// Stage 1 on the devices of several processes. CUDA builds only.
#ifndef XGBGPU_QUANTILE_SHARED_QUANTILES_CUDA_H_
#define XGBGPU_QUANTILE_SHARED_QUANTILES_CUDA_H_

#include <optional>

#include "cuda/device.h"
#include "quantile/quantile_cuda.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// Finds the cuts of the rows of all processes of `group`. All processes call it at the same time. Each process sorts
/// the columns of its own rows on its current device. A bisection on keys then finds the ranks of all rows
/// (quantile/shared_columns.h). Returns the same cuts in all processes, and the columns of the process's own rows.
/// Returns nothing if the columns of a process do not fit its device at once.
///
/// In      source  has rows; read once
/// Cost    4 bytes a value on the device for dense rows, and the memory to sort one column or more; 16 bytes an entry
///         of other rows, with weights 32. At most 40 calls of `group` for each sort
/// Same    the cuts of host::ComputeCuts, bit for bit
/// Throws  as FindQuantiles, in all processes
std::optional<Quantiles> FindSharedQuantiles(RowSource const& source, CutRequest const& wanted,
                                             BuildOptions const& options, Collective* group, DeviceArena* arena);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_SHARED_QUANTILES_CUDA_H_
