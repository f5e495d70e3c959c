/// Host threads turn parts of batches into what is copied to a device. Host code only.
#ifndef XGBGPU_QUANTILE_PACK_H_
#define XGBGPU_QUANTILE_PACK_H_

#include <cstddef>
#include <cstdint>

#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// The columns [first, last) of a source with `features` columns.
struct ColumnRange {
  FeatureIndex first;
  FeatureIndex last;
  FeatureIndex features;

  FeatureIndex size() const { return last - first; }
  bool has(FeatureIndex f) const { return f >= first && f < last; }
};

/// Writes rows [begin, begin + n) of a batch as floats, NaN where a value is missing. Rows that store every value in
/// order are copied at the speed of memory.
///
/// Out     out  [n, columns.size()]
/// Throws  InvalidArgument (infinite value, feature that does not exist, a feature twice in a row that is not in order)
void PackRows(RowBatch const& batch, std::uint64_t begin, std::uint64_t n, ColumnRange const& columns, float* out,
              int threads);

/// Writes entries [begin, begin + n) of a batch as (column - first) · 2^32 + sort key, and leaves out those that are
/// NaN or outside the columns. Where the row's weight is 0, the lower half is kNoKey.
///
/// In      weights_of_rows  [rows of the source], or empty: every row counts
/// Out     keys             [n] at most
///         weights          the row's weight beside each key, if there are weights
/// Returns number of keys written
/// Throws  InvalidArgument (infinite value, feature that does not exist)
std::size_t PackPairs(RowBatch const& batch, std::uint64_t begin, std::uint64_t n, ColumnRange const& columns,
                      Span<float const> weights_of_rows, std::uint64_t* keys, float* weights, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_PACK_H_
