/// Thresholds of exact splits: between two values, above the largest value, below the smallest value.
#ifndef XGBGPU_EXACT_EXACT_OPS_H_
#define XGBGPU_EXACT_EXACT_OPS_H_

#include "base/hd.h"
#include "split/split.h"

namespace xgbgpu {

/// Returns the middle of lower < upper as stock `exact` computes it, or `upper` if the middle is not between them
/// (neighbouring floats, or a sum that overflows). lower < result <= upper.
XGBGPU_HD float ThresholdBetween(float lower, float upper) {
  float const middle = (lower + upper) * 0.5f;
  return middle > lower && middle <= upper ? middle : upper;
}

/// Returns a threshold above the largest value, as stock `exact`: present values go left, missing values right.
XGBGPU_HD float ThresholdAbove(float largest) {
  float const magnitude = largest < 0.0f ? -largest : largest;
  return largest + (magnitude + kLeastGain);
}
/// Returns a threshold below the smallest value, as stock `exact`: missing values go left, present values right.
XGBGPU_HD float ThresholdBelow(float smallest) {
  float const magnitude = smallest < 0.0f ? -smallest : smallest;
  return smallest - (magnitude + kLeastGain);
}

}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_EXACT_OPS_H_
