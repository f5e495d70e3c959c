/// The statistic of one row, on host and device.
#ifndef XGBGPU_ENCODE_ENCODE_OPS_H_
#define XGBGPU_ENCODE_ENCODE_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "xgbgpu/encode.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Sums over rows of one category: exact, so independent of the order.
struct CategorySum {
  std::int64_t value;   ///< sum of targets times weights
  std::int64_t weight;  ///< sum of weights

  friend XGBGPU_HD CategorySum operator+(CategorySum a, CategorySum b) {
    return {a.value + b.value, a.weight + b.weight};
  }
};

/// Returns the statistic of a category from the rows of `sum`: the prior if there are none.
XGBGPU_HD float TargetStatistic(CategorySum sum, StatisticRule const& rule, double prior) {
  double const value = static_cast<double>(sum.value) * rule.value_unit;
  double const weight = static_cast<double>(sum.weight) * rule.weight_unit;
  return static_cast<float>((value + rule.prior_weight * prior) / (weight + rule.prior_weight));
}

}  // namespace xgbgpu

#endif  // XGBGPU_ENCODE_ENCODE_OPS_H_
