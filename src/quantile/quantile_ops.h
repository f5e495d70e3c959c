/// Per-column maths of the quantile stage.
#ifndef XGBGPU_QUANTILE_QUANTILE_OPS_H_
#define XGBGPU_QUANTILE_QUANTILE_OPS_H_

#include <cstddef>
#include <cstdint>

#include "core/fixed_point.h"
#include "core/hd.h"

namespace xgbgpu {

/// The sort key that means "no value": it is above the key of every number.
constexpr std::uint32_t kNoKey = 0xFFFFFFFFU;

/// Returns a value below all of a column: the threshold that sends every present value to the right.
XGBGPU_HD float BelowAll(float smallest) {
  double const magnitude = smallest < 0 ? -static_cast<double>(smallest) : static_cast<double>(smallest);
  return static_cast<float>(static_cast<double>(smallest) - magnitude - static_cast<double>(1e-5f));
}

/// Returns a value above all of a column: the upper end of its last bin.
XGBGPU_HD float AboveAll(float largest) {
  double const magnitude = largest < 0 ? -static_cast<double>(largest) : static_cast<double>(largest);
  return static_cast<float>(static_cast<double>(largest) + (magnitude + static_cast<double>(1e-5f)));
}

/// Returns a row's weight as an integer, in the unit of WeightScale. It is 0 if the weight is 0, and only then.
XGBGPU_HD std::int64_t IntegerWeight(float weight, double scale) {
  std::int64_t const rounded = RoundToNearest(weight, scale);
  return rounded == 0 && weight > 0 ? 1 : rounded;
}

/// The ranks 1 … parts-1 of `parts` equal parts between the first and the last value of a sorted column, in integer
/// weights: rank k is k·range/parts + begin. It is compared with middles of values' rank intervals; both sides are
/// multiplied by 2·parts, so that comparisons are exact.
struct QuantileRanks {
  std::int64_t begin;  ///< weight of the first value
  std::int64_t range;  ///< weight of the values between the first and the last
  int parts;

  /// Tells whether rank k is below the middle of the cumulative weights a and b.
  XGBGPU_HD bool IsBelow(int k, std::int64_t a, std::int64_t b) const {
    using Wide = __int128;
    return 2 * static_cast<Wide>(k) * range < (static_cast<Wide>(a) + b - 2 * static_cast<Wide>(begin)) * parts;
  }
};

/// Walks the distinct values of a sorted column and calls take(i) for those that represent the ranks of QuantileRanks,
/// in ascending order, each at most once. cumulative[i] is the integer weight of values 0 … i, as std::int64_t.
///
/// The value of rank k is the first, i = 1 at least, whose cumulative weight c[i] is above R = begin + k·range/parts:
/// IsBelow(k, c[i], c[i]). For let j be the first with c[j] > R. The loop below stops at the first i with c[i] + c[i+1]
/// > 2R, which is j, or j-1 where c[j-1] is near enough to R; it takes j in both cases, as c[j-1] <= R < c[j]. There is
/// a j before the last value, as R < begin + range = c[distinct-2], and it is not 0, as R >= begin = c[0]. So a rank's
/// value can be found from cumulative weights alone (shared_columns.h).
///
/// From  XGBoost's weighted quantile summary (Chen & Guestrin, KDD 2016, appendix A.3: prune), on exact ranks
template <typename Cumulative, typename Take>
void ForEachQuantile(Cumulative const& cumulative, std::size_t distinct, int parts, Take&& take) {
  QuantileRanks const ranks{cumulative[0], cumulative[distinct - 2] - cumulative[0], parts};
  std::size_t i = 1, last = 0;
  for (int k = 1; k < parts; ++k) {
    while (i < distinct - 1 && !ranks.IsBelow(k, cumulative[i + 1], cumulative[i])) ++i;
    if (i == distinct - 1) break;
    std::size_t const nearest = ranks.IsBelow(k, cumulative[i], cumulative[i]) ? i : i + 1;
    if (nearest != last) take(nearest);
    last = nearest;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_QUANTILE_OPS_H_
