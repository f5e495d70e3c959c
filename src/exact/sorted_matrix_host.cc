// Gathers the columns of a row source and sorts each by value on the host.
#include <algorithm>

#include "base/float_bits.h"
#include "base/parallel.h"
#include "exact/sorted_matrix.h"
#include "matrix/row_sizes.h"
#include "quantile/gather_columns.h"
#include "quantile/radix_sort.h"

namespace xgbgpu::host {

std::unique_ptr<SortedMatrix> SortColumns(RowSource const& source, int threads) {
  CheckShape(source);
  auto matrix = std::make_unique<SortedMatrix>();
  matrix->rows = source.rows();
  std::vector<std::uint64_t> const sizes = CountColumns(source, threads);
  MeasureRows(source, threads);  // throws if a row has a feature twice
  matrix->column_ptr.assign(1, 0);
  for (std::uint64_t const size : sizes) matrix->column_ptr.push_back(matrix->column_ptr.back() + size);
  matrix->values = Buffer<SortedValue>{matrix->stored()};
  GatherGroup<SortedValue>(source, {0, matrix->features(), matrix->column_ptr}, threads, matrix->values.span(),
                           [](std::uint64_t row, float value) {
                             return SortedValue{static_cast<RowIndex>(row), value};
                           });
  std::vector<Buffer<SortedValue>> scratch(static_cast<std::size_t>(threads));
  ParallelTasks(threads, matrix->features(), [&](std::size_t f, int thread) {
    Span<SortedValue> const column{matrix->values.data() + matrix->column_ptr[f], sizes[f]};
    auto& own = scratch[static_cast<std::size_t>(thread)];
    own.Reserve(column.size());
    Span<SortedValue> const sorted = RadixSort(column, Span<SortedValue>{own.data(), column.size()},
                                               [](SortedValue const& v) { return AscendingKey(v.value); });
    if (sorted.data() != column.data()) std::copy(sorted.begin(), sorted.end(), column.begin());
  });
  return matrix;
}

}  // namespace xgbgpu::host
