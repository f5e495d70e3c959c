/// Per-column maths of the quantile stage.
#ifndef XGBGPU_QUANTILE_QUANTILE_OPS_H_
#define XGBGPU_QUANTILE_QUANTILE_OPS_H_

#include <cstddef>
#include <cstdint>

#include "base/hd.h"
#include "core/fixed_point.h"
#include "core/search.h"

namespace xgbgpu {

/// The sort key of a missing value, above the keys of all numbers.
constexpr std::uint32_t kNoKey = 0xFFFFFFFFU;

/// Returns a value below all values of a column: the threshold that sends every present value to the right.
XGBGPU_HD float BelowAll(float smallest) {
  double const magnitude = smallest < 0 ? -static_cast<double>(smallest) : static_cast<double>(smallest);
  return static_cast<float>(static_cast<double>(smallest) - magnitude - static_cast<double>(1e-5f));
}

/// Returns a value above all values of a column: the upper end of its last bin.
XGBGPU_HD float AboveAll(float largest) {
  double const magnitude = largest < 0 ? -static_cast<double>(largest) : static_cast<double>(largest);
  return static_cast<float>(static_cast<double>(largest) + (magnitude + static_cast<double>(1e-5f)));
}

/// Returns a row's weight as an integer in the unit of WeightScale. Only the weight 0 becomes 0.
XGBGPU_HD std::int64_t IntegerWeight(float weight, double scale) {
  std::int64_t const rounded = RoundToNearest(weight, scale);
  return rounded == 0 && weight > 0 ? 1 : rounded;
}

/// The ranks 1 … parts-1 of `parts` equal parts between the first and the last value of a sorted column, in integer
/// weights: rank k is k·range/parts + begin. Ranks are compared with the middles of values' rank intervals. Both sides
/// are multiplied by 2·parts, so that comparisons are exact.
struct QuantileRanks {
  std::int64_t begin;  ///< weight of the first value
  std::int64_t range;  ///< weight of the values between the first and the last
  int parts;

  /// Returns true if rank k is below the middle of the cumulative weights a and b.
  XGBGPU_HD bool IsBelow(int k, std::int64_t a, std::int64_t b) const {
    using Wide = __int128;
    return 2 * static_cast<Wide>(k) * range < (static_cast<Wide>(a) + b - 2 * static_cast<Wide>(begin)) * parts;
  }
};

/// Calls take(i) for the distinct values of a sorted column, three at least, that represent the ranks of QuantileRanks,
/// ascending, each at most once. cumulative[i] is the integer weight of values 0 … i, as std::int64_t.
///
/// The value of rank k is the first, i = 1 at least, whose cumulative weight c[i] is above R = begin + k·range/parts:
/// IsBelow(k, c[i], c[i]). It exists before the last value, because R < begin + range = c[distinct-2], and it is not
/// value 0, because R >= begin = c[0]. XGBoost walks to the first i with c[i] + c[i+1] > 2R, which is that value or the
/// one before, and then decides between i and i+1, with the same result. A rank's value depends on cumulative weights
/// alone, so other searches find it, too (shared_columns.h).
///
/// Cost  2·log2(distinct / parts) comparisons for each rank: steps double from the value of the rank before
/// From  XGBoost's weighted quantile summary (Chen & Guestrin, KDD 2016, appendix A.3: prune), on exact ranks
template <typename Cumulative, typename Take>
void ForEachQuantile(Cumulative const& cumulative, std::size_t distinct, int parts, Take&& take) {
  QuantileRanks const ranks{cumulative[0], cumulative[distinct - 2] - cumulative[0], parts};
  std::size_t last = 0;
  for (int k = 1; k < parts; ++k) {
    auto const is_above = [&](std::size_t i) { return ranks.IsBelow(k, cumulative[i], cumulative[i]); };
    std::size_t low = last == 0 ? 1 : last, step = 1;
    while (low + step < distinct - 1 && !is_above(low + step - 1)) {
      low += step;
      step *= 2;
    }
    std::size_t const i = FirstWhere(low, low + step < distinct - 1 ? low + step : distinct - 1, is_above);
    if (i != last) take(i);
    last = i;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_QUANTILE_OPS_H_
