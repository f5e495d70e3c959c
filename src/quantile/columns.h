/// Reads a row source column by column, as many columns at a time as a fixed memory budget holds.
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

/// The columns in flight at one time have at most so many values, unless one column alone has more or the caller says
/// otherwise. A larger number takes fewer passes over the source, a smaller one less memory.
constexpr std::uint64_t kColumnBufferValues = 1 << 24;

/// Integer weights up to and including each distinct value: counts fit 32 bits, sums of weights need 64.
class CumulativeWeights {
 public:
  explicit CumulativeWeights(std::uint32_t const* counts) : counts_{counts} {}
  explicit CumulativeWeights(std::int64_t const* sums) : sums_{sums} {}
  std::int64_t operator[](std::size_t i) const { return sums_ != nullptr ? sums_[i] : std::int64_t{counts_[i]}; }

 private:
  std::uint32_t const* counts_{nullptr};
  std::int64_t const* sums_{nullptr};
};

/// One sorted column: its distinct values as sort keys, ascending, and the weight up to and including each.
struct SortedColumn {
  FeatureIndex feature;
  std::uint64_t values;  ///< stored, not NaN, before rows of weight 0 are left out
  Span<std::uint32_t const> keys;
  CumulativeWeights cumulative;  ///< [keys]
};

/// Counts the values of each column that are not NaN. Throws InvalidArgument for an infinite value or a column that
/// does not exist.
std::vector<std::uint64_t> CountColumns(RowSource const& source, int threads);

/// The weights of a shard's rows.
struct RowWeights {
  Span<float const> of_rows;  ///< >= 0; empty: every value counts 1
  double scale;               ///< of IntegerWeight, from the weights of all shards
};

/// The workspace that sorting takes. All shards have the same `values`.
struct SortWorkspace {
  std::uint64_t values{kColumnBufferValues};     ///< of the columns in flight, unless one column alone has more
  int columns{std::numeric_limits<int>::max()};  ///< so many are sorted at a time at most
  std::vector<std::uint64_t> sizes{};            ///< [features] what CountColumns returns; empty: it is not known yet
};

/// Calls visit(column) once per column, from several threads at once and in no particular order, for one group of
/// columns after the other. After each group it calls group_done(first, last), if given, from the calling thread. All
/// shards have the same groups. Columns are of this shard's rows.
/// Throws InvalidArgument for an infinite value (row, feature and value are named).
void ForEachSortedColumn(RowSource const& source, RowWeights const& weights, int threads, Collective& collective,
                         std::function<void(SortedColumn const&)> const& visit,
                         std::function<void(FeatureIndex, FeatureIndex)> const& group_done = {},
                         SortWorkspace const& workspace = {});

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_COLUMNS_H_
