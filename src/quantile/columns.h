/// Reads a row source column by column, in groups of columns that fit a memory budget.
#ifndef XGBGPU_QUANTILE_COLUMNS_H_
#define XGBGPU_QUANTILE_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "xgbgpu/collective.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Most values of the columns in flight, unless one column alone has more or the caller sets another number. A larger
/// number takes fewer passes over the source, a smaller one less memory.
constexpr std::uint64_t kColumnBufferValues = 1 << 24;

/// Integer weights up to and including each distinct value. Counts fit 32 bits, sums of weights need 64.
class CumulativeWeights {
 public:
  explicit CumulativeWeights(std::uint32_t const* counts) : counts_{counts} {}
  explicit CumulativeWeights(std::int64_t const* sums) : sums_{sums} {}
  std::int64_t operator[](std::size_t i) const { return sums_ != nullptr ? sums_[i] : std::int64_t{counts_[i]}; }

 private:
  std::uint32_t const* counts_{nullptr};
  std::int64_t const* sums_{nullptr};
};

/// A sorted column: its distinct values as sort keys, ascending, with cumulative weights.
struct SortedColumn {
  FeatureIndex feature;
  std::uint64_t values;  ///< number of stored values that are not NaN, rows of weight 0 included
  Span<std::uint32_t const> keys;
  CumulativeWeights cumulative;  ///< [keys] inclusive
};

/// Counts the values of each column that are not NaN. Throws InvalidArgument for an infinite value or a feature that
/// does not exist.
std::vector<std::uint64_t> CountColumns(RowSource const& source, int threads);

/// The weights of a shard's rows.
struct RowWeights {
  Span<float const> of_rows;  ///< >= 0; empty: every value counts 1
  double scale;               ///< of IntegerWeight, from the weights of all shards
};

/// The workspace of a sort. All shards have the same `values`.
struct SortWorkspace {
  std::uint64_t values{kColumnBufferValues};     ///< of the columns in flight, unless one column alone has more
  int columns{std::numeric_limits<int>::max()};  ///< most columns sorted at a time
  std::vector<std::uint64_t> sizes{};            ///< [features] result of CountColumns; empty: unknown
};

/// Calls visit(column) once per column, from several threads and in no particular order, one group of columns after
/// another. After each group it calls group_done(first, last), if given, from the calling thread. All shards have the
/// same groups. Columns have this shard's rows only.
/// Throws InvalidArgument for an infinite value (names row, feature and value).
void ForEachSortedColumn(RowSource const& source, RowWeights const& weights, int threads, Collective& collective,
                         std::function<void(SortedColumn const&)> const& visit,
                         std::function<void(FeatureIndex, FeatureIndex)> const& group_done = {},
                         SortWorkspace const& workspace = {});

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_COLUMNS_H_
