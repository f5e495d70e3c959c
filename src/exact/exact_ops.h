/// Thresholds of exact splits: where between two values, and where beyond all of them.
#ifndef XGBGPU_EXACT_EXACT_OPS_H_
#define XGBGPU_EXACT_EXACT_OPS_H_

#include "base/hd.h"
#include "split/split.h"

namespace xgbgpu {

/// The middle of lower < upper as stock `exact` computes it; `upper` where that does not lie between them (neighbouring
/// floats, or a sum that overflows). lower < result <= upper.
XGBGPU_HD float Between(float lower, float upper) {
  float const middle = (lower + upper) * 0.5f;
  return middle > lower && middle <= upper ? middle : upper;
}

/// Above the largest value and below the smallest: "present or missing". As stock `exact`.
XGBGPU_HD float Beyond(float largest) {
  float const magnitude = largest < 0.0f ? -largest : largest;
  return largest + (magnitude + kLeastGain);
}
XGBGPU_HD float Before(float smallest) {
  float const magnitude = smallest < 0.0f ? -smallest : smallest;
  return smallest - (magnitude + kLeastGain);
}

}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_EXACT_OPS_H_
