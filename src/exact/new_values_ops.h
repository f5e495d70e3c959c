/// Which entries of a divided list begin a new value among those on their side.
#ifndef XGBGPU_EXACT_NEW_VALUES_OPS_H_
#define XGBGPU_EXACT_NEW_VALUES_OPS_H_

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu {

/// Which of 32 entries in their order have another value than the entry before them on the same side. `side`, `fresh`:
/// bits of entries on that side, and of those that begin a new value. `pending`: 1 if a new value came after the side's
/// last entry; before, and then after these.
///
/// An addition carries a bit through the ones that stand between two entries of the side. Where a node ends nothing has
/// to be done: the first entry of the next one is fresh, so that no carry from before it tells anything.
XGBGPU_HD std::uint32_t NewOnSide(std::uint32_t side, std::uint32_t fresh, std::uint32_t* pending) {
  std::uint64_t const sum = std::uint64_t{~side} + (fresh & ~side) + *pending;
  *pending = static_cast<std::uint32_t>(sum >> 32);
  return (static_cast<std::uint32_t>(sum) | fresh) & side;
}

}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_NEW_VALUES_OPS_H_
