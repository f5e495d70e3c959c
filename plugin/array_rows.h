/// Arrays of the user, as in-place predictions are given them, as the engine reads rows.
#ifndef XGBGPU_PLUGIN_ARRAY_ROWS_H_
#define XGBGPU_PLUGIN_ARRAY_ROWS_H_

#include <memory>

#include "api_call.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::plugin {

/// Rows of the arrays, read where they lie: values are rounded to float; those equal to `missing` are missing. `arrays`
/// and what they describe must outlive it. Null for what is left to stock code: values of other types than numbers of 1
/// to 8 bytes, little-endian (floats: of 4 or 8), arrays that are not of two dimensions, memory of devices.
///
/// Throws (ForEachBatch)  InvalidArgument (CSR: a column that does not exist, rows that are not in order)
std::unique_ptr<RowSource> MakeArrayRows(InPlaceArrays const& arrays, float missing, int threads);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ARRAY_ROWS_H_
