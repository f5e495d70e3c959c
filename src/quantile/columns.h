/// Reads a row source column by column, as many columns at a time as a fixed memory budget holds.
#ifndef XGBGPU_QUANTILE_COLUMNS_H_
#define XGBGPU_QUANTILE_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Values of the columns in flight at one time. Larger: fewer passes over the source; smaller: less memory.
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

/// Values of each column that are not NaN. Throws InvalidArgument for an infinite value or a column that does not
/// exist.
std::vector<std::uint64_t> CountColumns(RowSource const& source, int threads);

/// Calls visit once per column, from several threads at once, in no particular order.
/// Without weights every value counts 1; with weights (>= 0, one per row) the unit is 2^-k of `weights`' maximum.
/// Throws InvalidArgument for an infinite value (row, feature and value are named).
void ForEachSortedColumn(RowSource const& source, Span<float const> weights, int threads,
                         std::function<void(SortedColumn const&)> const& visit);

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_COLUMNS_H_
