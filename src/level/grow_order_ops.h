/// The order in which loss-guided growth splits nodes, kept level by level instead of by a queue.
///
/// The queue (grow_queue.h) takes the waiting node of the largest gain, on ties the one that was made first. Let the
/// *order* be that in which it takes all nodes known so far, as if there were no limit of leaves. Now a node gets to be
/// known whose children nobody knows yet. It waits from when its parent is taken; as long as it does, the queue takes
/// the others as before; and it is taken as soon as it is better than the best of the others that wait, which is the
/// next of the order. So it comes just before the first node behind its parent that *yields* to it, and the others keep
/// their order. Several new nodes, none of them known to have children, disturb each other as little: those that come
/// before the same node wait together, and are taken by gain, then by when they were made. Of two nodes the one was
/// made first whose parent was taken first; of siblings the left one.
///
/// With max_leaves the queue takes the first max_leaves - 1. A node that is not among them now never will be: others
/// are only inserted before it. So nobody need split it, and the order keeps no more than these. It begins with the
/// root, and has the parent of each of its nodes.
#ifndef XGBGPU_LEVEL_GROW_ORDER_OPS_H_
#define XGBGPU_LEVEL_GROW_ORDER_OPS_H_

#include <cstdint>
#include <cstring>

#include "core/hd.h"

namespace xgbgpu {

/// A node of the order. Places are counted from 0.
struct OrderedNode {
  float gain;
  std::uint32_t parent;  ///< its place; of the root: 0
};

constexpr std::uint32_t kNoPlace = 0xFFFFFFFFU;
constexpr std::uint32_t kMostOrdered = 1 << 15;  ///< what keys have room for

/// Where a node goes: between two of the old order, and then by gain and by when it was made. Smaller comes first.
using OrderKey = unsigned long long;
constexpr OrderKey kNoOrderKey = ~OrderKey{0};  ///< it may not be split

/// Does the queue take a new node before `old`, if both wait? `parent`: place of the new node's parent.
XGBGPU_HD bool Yields(OrderedNode old, float gain, std::uint32_t parent) {
  return old.gain != gain ? old.gain < gain : old.parent > parent;
}

/// Place in the old order, of `n` nodes, that a new node goes before; n: it goes behind all.
/// Cost  at most n - parent looks, eight on their way at a time
XGBGPU_HD std::uint32_t GapOf(OrderedNode const* order, std::uint32_t n, float gain, std::uint32_t parent) {
  constexpr std::uint32_t kLooks = 8;
  for (std::uint32_t first = parent + 1; first < n; first += kLooks) {
    std::uint32_t found = kLooks;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (std::uint32_t back = 1; back <= kLooks; ++back) {
      std::uint32_t const i = first + kLooks - back;
      if (i < n && Yields(order[i], gain, parent)) found = kLooks - back;
    }
    if (found < kLooks) return first + found;
  }
  return n;
}

/// Key of a new node in that gap. Siblings have one parent, and the left one is made first.
XGBGPU_HD OrderKey KeyOfNew(std::uint32_t gap, float gain, std::uint32_t parent, bool right) {
  std::uint32_t bits = 0;  // of positive floats: in their order
  memcpy(&bits, &gain, sizeof(bits));
  return OrderKey{gap} << 48 | OrderKey{~bits} << 16 | parent << 1 | (right ? 1U : 0U);
}

/// Key of the node at `place` of the old order: behind the new ones that go before it.
XGBGPU_HD OrderKey KeyOfOld(std::uint32_t place) { return OrderKey{place} << 48 | 0xFFFFFFFFFFFFU; }
XGBGPU_HD std::uint32_t ParentOf(OrderKey key_of_new) { return static_cast<std::uint32_t>(key_of_new & 0xFFFFU) >> 1; }

/// Place in the new order: behind the old nodes before it, and the new ones with smaller keys.
XGBGPU_HD std::uint32_t PlaceOf(OrderKey key, OrderKey const* new_keys, std::uint32_t n) {
  if (key == kNoOrderKey) return kNoPlace;
  auto place = static_cast<std::uint32_t>(key >> 48);
  for (std::uint32_t i = 0; i < n; ++i) place += new_keys[i] < key ? 1 : 0;
  return place;
}

}  // namespace xgbgpu

#endif  // XGBGPU_LEVEL_GROW_ORDER_OPS_H_
