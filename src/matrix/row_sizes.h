/// Sizes of rows and columns, from a first pass over the data.
#ifndef XGBGPU_MATRIX_ROW_SIZES_H_
#define XGBGPU_MATRIX_ROW_SIZES_H_

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::host {

struct RowSizes {
  Buffer<std::uint64_t> row_ptr;      ///< [rows + 1] prefix sums of the rows' numbers of values
  std::vector<std::uint64_t> column;  ///< [features] number of values of each column
  std::uint64_t stored{0};            ///< number of values that are not missing
};

/// Throws InvalidArgument (no features, more than 2^32 - 2 rows).
void CheckShape(std::uint64_t rows, FeatureIndex features);
inline void CheckShape(RowSource const& source) { CheckShape(source.rows(), source.features()); }

/// Throws InvalidArgument (a feature twice in one row).
RowSizes MeasureRows(RowSource const& source, int threads);

}  // namespace xgbgpu::host

#endif  // XGBGPU_MATRIX_ROW_SIZES_H_
