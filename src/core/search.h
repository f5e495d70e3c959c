/// Bisection on host and device.
#ifndef XGBGPU_CORE_SEARCH_H_
#define XGBGPU_CORE_SEARCH_H_

#include "base/hd.h"

namespace xgbgpu {

/// Returns the first of low … high - 1 with holds(i), or `high` if there is none. `holds` must be true for every later
/// index, too.
template <typename Index, typename Predicate>
XGBGPU_HD Index FirstWhere(Index low, Index high, Predicate&& holds) {
  while (low < high) {
    Index const middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Returns the last of `n` consecutive ranges that begins at or before `item`. begin(0) must be at or before `item`.
template <typename Index, typename Item, typename Begin>
XGBGPU_HD Index RangeOf(Index n, Item item, Begin&& begin) {
  return FirstWhere(Index{1}, n, [&](Index i) { return begin(i) > item; }) - 1;
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_SEARCH_H_
