#include "core/parallel.h"
#include "exact/sorted_matrix.h"
#include "matrix/row_sizes.h"
#include "quantile/gather_columns.h"
#include "quantile/quantile_ops.h"
#include "quantile/radix_sort.h"

namespace xgbgpu::host {

namespace {

struct KeyedRow {
  RowIndex row;
  std::uint32_t key;
};

void SortGroup(ColumnGroup const& group, Span<KeyedRow> gathered, int threads, SortedMatrix* out) {
  std::vector<Buffer<KeyedRow>> scratch(static_cast<std::size_t>(threads));
  ParallelTasks(threads, group.last - group.first, [&](std::size_t c, int thread) {
    std::size_t const size = group.start[c + 1] - group.start[c];
    auto& own = scratch[static_cast<std::size_t>(thread)];
    own.Reserve(size);
    Span<KeyedRow> const sorted = RadixSort(Span<KeyedRow>{gathered.data() + group.start[c], size},
                                            Span<KeyedRow>{own.data(), size}, [](KeyedRow r) { return r.key; });
    SortedValue* const values = out->values.data() + out->column_ptr[group.first + c];
    for (std::size_t i = 0; i < size; ++i) values[i] = {sorted[i].row, ValueOfKey(sorted[i].key)};
  });
}

}  // namespace

std::unique_ptr<SortedMatrix> SortColumns(RowSource const& source, int threads) {
  CheckShape(source);
  auto matrix = std::make_unique<SortedMatrix>();
  matrix->rows = source.rows();
  std::vector<std::uint64_t> const sizes = CountColumns(source, threads);
  MeasureRows(source, threads);  // no feature twice in a row
  matrix->column_ptr.assign(1, 0);
  for (std::uint64_t const size : sizes) matrix->column_ptr.push_back(matrix->column_ptr.back() + size);
  matrix->values = Buffer<SortedValue>{matrix->stored()};
  Buffer<KeyedRow> gathered;
  for (ColumnGroup const& group : MakeColumnGroups(sizes)) {
    gathered.Reserve(group.start.back());
    Span<KeyedRow> const values{gathered.data(), group.start.back()};
    GatherGroup<KeyedRow>(source, group, threads, values, [](std::uint64_t row, Entry e) {
      return KeyedRow{static_cast<RowIndex>(row), SortKey(e.value)};
    });
    SortGroup(group, values, threads, matrix.get());
  }
  return matrix;
}

}  // namespace xgbgpu::host
