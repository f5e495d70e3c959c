/// Counts sort keys on the host.
#ifndef XGBGPU_QUANTILE_KEY_COUNTER_HOST_H_
#define XGBGPU_QUANTILE_KEY_COUNTER_HOST_H_

#include <cstddef>
#include <memory>

#include "quantile/columns.h"
#include "quantile/counted_columns.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::host {

/// Returns counters in `memory_bytes` of memory, or in the memory of one prefix if that is more. Source and weights
/// must outlive the counters.
///
/// Cost    a pass reads the source, as an array if it is one; each value takes a bisection among its column's prefixes,
///         and an addition. Further memory: 32 KB for each thread
/// Throws  InvalidArgument: an infinite value, a column that does not exist
std::unique_ptr<KeyCounter> MakeKeyCounter(RowSource const& source, RowWeights const& weights, int threads,
                                           std::size_t memory_bytes);

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_KEY_COUNTER_HOST_H_
