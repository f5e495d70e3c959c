/// Columns of the Python package datatable, as XGBoost's C function takes them, as rows.
#ifndef XGBGPU_PLUGIN_DATA_DATATABLE_COLUMNS_H_
#define XGBGPU_PLUGIN_DATA_DATATABLE_COLUMNS_H_

#include <cstdint>
#include <memory>

#include "data/held_rows.h"

namespace xgbgpu::plugin {

/// A table by columns. Each column is contiguous.
struct DatatableColumns {
  void const* const* values;  ///< [columns]: the first of `rows` values
  char const* const* types;   ///< [columns]: float32, float64, bool8, int8, int16, int32, int64
  std::uint64_t rows;
  std::uint64_t columns;
};

/// Copies a table to float32 rows. Missing are floats that are not finite, and the smallest number of an integer type.
///
/// Returns null for tables that are left to stock code: tables without rows or columns, other types, truth values that
/// are neither 0 nor 1, float64 values that no float32 is near.
///
/// Memory  4 bytes a value
/// Cost    a pass over the table by `threads` threads, and one over the copy
/// Throws  OutOfHostMemory; InvalidArgument for a null address, which stock code would read from
std::unique_ptr<HeldRows> HoldRows(DatatableColumns const& table, int threads);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_DATATABLE_COLUMNS_H_
