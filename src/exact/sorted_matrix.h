/// The data of exact trees: every column's values in ascending order, with their rows.
#ifndef XGBGPU_EXACT_SORTED_MATRIX_H_
#define XGBGPU_EXACT_SORTED_MATRIX_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A stored value of a column.
struct SortedValue {
  RowIndex row;
  float value;
};

/// Sorted columns. Immutable, so any number of trainers share one. A row without an entry in a column misses the
/// feature.
struct SortedMatrix {
  std::uint64_t rows;
  std::vector<std::uint64_t> column_ptr;  ///< [features + 1]
  Buffer<SortedValue> values;             ///< [column_ptr.back()]; a column is sorted by value, then by row

  FeatureIndex features() const { return static_cast<FeatureIndex>(column_ptr.size() - 1); }
  std::uint64_t stored() const { return column_ptr.back(); }
  Span<SortedValue const> column(FeatureIndex f) const {
    return {values.data() + column_ptr[f], column_ptr[f + 1] - column_ptr[f]};
  }
  /// Returns true if no row misses the feature.
  bool IsDense(FeatureIndex f) const { return column(f).size() == rows; }
  /// Returns true if all stored values of the feature are equal.
  bool IsConstant(FeatureIndex f) const {
    Span<SortedValue const> const own = column(f);
    return own.empty() || own.front().value == own.back().value;
  }
  std::size_t bytes() const { return values.bytes() + column_ptr.size() * sizeof(column_ptr[0]); }
};

namespace host {

/// Returns the sorted columns of `source`, which is read three times.
///
/// Cost    one radix sort per column; peak memory: the result, and the longest column once more for every thread
/// Same    any number of threads
/// Throws  InvalidArgument (no columns, too many rows, infinite values)
std::unique_ptr<SortedMatrix> SortColumns(RowSource const& source, int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_SORTED_MATRIX_H_
