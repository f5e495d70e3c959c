/// The order in which loss-guided growth splits nodes, kept level by level instead of by a queue.
///
/// The queue (growth/grow_queue.h) takes the waiting node of the largest gain, on ties the one that was made first. Let
/// the *order* be the order in which it takes all nodes known so far, as if leaves had no limit. Then a node without
/// known children becomes known. It waits from the moment when the queue takes its parent. While it waits, the queue
/// takes the other nodes as before. The queue takes it as soon as it is better than the best other waiting node, which
/// is the next of the order. So it comes just before the first node behind its parent that *yields* to it, and the
/// other nodes keep their order. The same holds for several new nodes without known children. New nodes that come
/// before the same node wait together; the queue takes them by gain, then by age. The older of two nodes is the node
/// whose parent was taken first; of siblings, the left one.
///
/// With max_leaves the queue takes the first max_leaves - 1 nodes. A later node never moves forward, because nodes are
/// only inserted before it. It need not be split, and the order keeps max_leaves - 1 nodes. The order begins with the
/// root, and has the parent of each of its nodes.
///
/// When the tree has ended, the order is the queue's with its limit: the queue takes the node at place 0 first, and so
/// on. Children get their numbers when their parent is taken, left before right. So the children of the node at place p
/// are the tree's nodes 2 p + 1 and 2 p + 2. Nodes that were split and have left the order are not in the tree, nor are
/// the nodes below them: the nearest node of the tree above keeps their rows.
#ifndef XGBGPU_GROWTH_GROW_ORDER_OPS_H_
#define XGBGPU_GROWTH_GROW_ORDER_OPS_H_

#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "core/search.h"
#include "tree/node.h"

namespace xgbgpu {

/// A node of the order. Places are counted from 0.
struct alignas(16) OrderedNode {
  float gain;
  std::uint32_t parent;  ///< place of its parent in the order; 0 for the root
  NodeIndex node;        ///< its number, as it was made
};

constexpr std::uint32_t kNoPlace = 0xFFFFFFFFU;
constexpr std::uint32_t kMostOrdered = 1 << 15;  ///< the limit of keys

/// The type of keys that order nodes.
using OrderKey = unsigned long long;

/// Precedence of a node whose parent is at place `parent`. The queue takes the waiting node of the largest precedence
/// first. A node yields to nodes of larger precedence. Siblings may have the same precedence. Never 0.
XGBGPU_HD OrderKey PrecedenceOf(float gain, std::uint32_t parent) { return OrderKey{FloatBits(gain)} << 32 | ~parent; }

/// Place in the old order, of `n` nodes, that a new node goes before; n: it goes behind all.
///
/// `least` is a tree of least precedences, so that nodes that do not yield are passed by many at a time: least[size +
/// i] is the precedence of place i, or 0 from place n on, where every node yields; least[j] is the lesser of least[2 j]
/// and least[2 j + 1]. `size` is a power of two and larger than n.
/// Cost  at most 2 log2(size) looks
XGBGPU_HD std::uint32_t GapOf(OrderKey const* least, std::uint32_t size, std::uint32_t n, float gain,
                              std::uint32_t parent) {
  OrderKey const own = PrecedenceOf(gain, parent);
  std::uint32_t at = size + (parent + 1 < n ? parent + 1 : n);  // the root comes before place 0 of none
  while (least[at] >= own) {  // no node at or below it yields: on to the right, and up
    ++at;
    while (at % 2 == 0) at /= 2;
  }
  while (at < size) {  // the first that yields is at or below it
    at *= 2;
    if (least[at] >= own) ++at;
  }
  return at - size;
}

/// Key of a new node, smaller ones come first: by the gap of the old order that it goes into, by gain, by when it was
/// made. Siblings have one parent, and the left one is made first.
XGBGPU_HD OrderKey KeyOfNew(std::uint32_t gap, float gain, std::uint32_t parent, bool right) {
  return OrderKey{gap} << 48 | OrderKey{~FloatBits(gain)} << 16 | parent << 1 | (right ? 1U : 0U);
}
constexpr OrderKey kNoOrderKey = ~OrderKey{0};  ///< of a new node that may not be split

/// Key of the node at `place` of the old order: behind the new ones that go before it.
XGBGPU_HD OrderKey KeyOfOld(std::uint32_t place) { return OrderKey{place} << 48 | 0xFFFFFFFFFFFFU; }

/// Place in the new order: behind the old nodes before it, and the new nodes with smaller keys. `new_keys` [n] ascend.
/// They may contain kNoOrderKey.
XGBGPU_HD std::uint32_t PlaceOf(OrderKey key, OrderKey const* new_keys, std::uint32_t n) {
  if (key == kNoOrderKey) return kNoPlace;
  std::uint32_t const smaller = FirstWhere(0U, n, [&](std::uint32_t i) { return new_keys[i] >= key; });
  return static_cast<std::uint32_t>(key >> 48) + smaller;
}

/// Nodes are made in pairs after the root. Returns true for a right child.
XGBGPU_HD bool IsRight(NodeIndex made) { return made > 0 && made % 2 == 0; }
/// Number in the tree of a child of the node at that place.
XGBGPU_HD NodeIndex NumberOfChild(std::uint32_t parent_place, bool right) {
  return static_cast<NodeIndex>(2 * parent_place + 1 + (right ? 1 : 0));
}
/// Number in the tree of a node of the order.
XGBGPU_HD NodeIndex NumberOf(OrderedNode const& ordered) {
  return ordered.node == 0 ? 0 : NumberOfChild(ordered.parent, IsRight(ordered.node));
}
/// Returns the number as made of node `number` of the tree. `nodes` and `order`: of a tree that has ended.
XGBGPU_HD NodeIndex MadeNodeOf(NodeIndex number, Node const* nodes, OrderedNode const* order) {
  return number == 0 ? 0 : nodes[order[(number - 1) / 2].node].left + (number - 1) % 2;
}
/// Left child in the tree of a node that is in the tree, or kNoNode. `places`: of all nodes in the order, or kNoPlace;
/// no block has looked at nodes from `looked_at` on.
XGBGPU_HD NodeIndex LeftInTree(NodeIndex made, std::uint32_t const* places, std::uint32_t looked_at) {
  if (static_cast<std::uint32_t>(made) >= looked_at || places[made] == kNoPlace) return kNoNode;
  return NumberOfChild(places[made], false);
}
/// Number of the tree's node at or above a node that was made.
XGBGPU_HD NodeIndex NumberAtOrAbove(NodeIndex made, Node const* nodes, std::uint32_t const* places) {
  while (made != 0) {
    NodeIndex const parent = nodes[made].parent;  // it has been split, hence looked at
    if (places[parent] != kNoPlace) return NumberOfChild(places[parent], IsRight(made));
    made = parent;
  }
  return 0;
}

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_GROW_ORDER_OPS_H_
