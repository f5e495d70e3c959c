/// Packs parts of batches for copies to a device, by host threads. Host code only.
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

/// Writes rows [begin, begin + n) of a batch as floats, with NaN for missing values. Rows that store every value in
/// order are copied at memory speed.
///
/// Out     out  [n, columns.size()]
/// Throws  InvalidArgument (an infinite value; a feature that does not exist; a feature twice in a row that is not in
///         order)
void PackRows(RowBatch const& batch, std::uint64_t begin, std::uint64_t n, ColumnRange const& columns, float* out,
              int threads);

/// Writes entries [begin, begin + n) of a batch as (column - first) · 2^32 + sort key, without NaNs and entries outside
/// the columns. For a row of weight 0 the lower half is kNoKey.
///
/// In      weights_of_rows  [rows of the source], or empty: every row counts
/// Out     keys             [n] at most
///         weights          the row's weight beside each key, if there are weights
/// Returns the number of keys written
/// Throws  InvalidArgument (an infinite value; a feature that does not exist)
std::size_t PackPairs(RowBatch const& batch, std::uint64_t begin, std::uint64_t n, ColumnRange const& columns,
                      Span<float const> weights_of_rows, std::uint64_t* keys, float* weights, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_PACK_H_
