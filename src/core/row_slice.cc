// Cuts the batches and arrays of a source to some consecutive rows.
#include "core/row_slice.h"

#include <algorithm>

#include "base/message.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu {

RowSlice::RowSlice(RowSource const& whole, std::uint64_t first, std::uint64_t n) : whole_{whole}, first_{first}, n_{n} {
  if (first > whole.rows() || n > whole.rows() - first) {
    Throw<InvalidArgument>("Rows ", first, " to ", first + n, " (exclusive) are wanted of data with ", whole.rows(),
                           " rows; allowed: rows that there are");
  }
}

std::optional<DenseValues> RowSlice::dense() const {
  std::optional<DenseValues> const values = whole_.dense();
  return values && n_ != 0 ? FromRow(*values, first_, features()) : values;
}

std::optional<DenseValues> RowSlice::arrays() const {
  std::optional<DenseValues> const one = dense();
  return one ? one : whole_.arrays();
}

void RowSlice::ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const {
  if (n_ == 0) return;
  std::uint64_t const end = first_ + n_;
  whole_.ForEachArray([&](ArrayBatch const& array) {
    std::uint64_t const from = std::max(first_, array.first_row);
    std::uint64_t const to = std::min(end, array.first_row + array.rows);
    if (from >= to) return;
    visit({FromRow(array.values, from - array.first_row, features()), from - first_, to - from});
  });
}

void RowSlice::ForEachBatch(std::function<void(RowBatch const&)> const& visit) const {
  if (n_ == 0) return;
  std::uint64_t const end = first_ + n_;
  whole_.ForEachBatch([&](RowBatch const& batch) {
    std::uint64_t const from = std::max(first_, batch.first_row);
    std::uint64_t const to = std::min(end, batch.first_row + batch.rows());
    if (from >= to) return;
    visit({from - first_, batch.offsets.subspan(from - batch.first_row, to - from + 1), batch.entries});
  });
}

}  // namespace xgbgpu
