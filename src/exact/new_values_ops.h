/// Finds the entries of a divided list that begin a new value in the list of their child.
#ifndef XGBGPU_EXACT_NEW_VALUES_OPS_H_
#define XGBGPU_EXACT_NEW_VALUES_OPS_H_

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu {

/// Returns the bits of entries that differ in value from the previous entry on the same side, for 32 consecutive
/// entries. `side` has the bits of entries on the side, `fresh` the bits of entries that begin a new value. *pending is
/// 1 if a new value has begun since the last entry on the side; the call updates it.
///
/// An addition carries a bit through the ones between two entries of the side. The end of a node needs no special case:
/// the first entry of a node is fresh, so a carry from the node before changes nothing.
XGBGPU_HD std::uint32_t NewOnSide(std::uint32_t side, std::uint32_t fresh, std::uint32_t* pending) {
  std::uint64_t const sum = std::uint64_t{~side} + (fresh & ~side) + *pending;
  *pending = static_cast<std::uint32_t>(sum >> 32);
  return (static_cast<std::uint32_t>(sum) | fresh) & side;
}

}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_NEW_VALUES_OPS_H_
