/// Which nodes of a growing tree have their histograms in memory.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_SLOTS_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "histogram/histogram_cache.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// Gives memory to the histograms of nodes. A histogram that does not fit is summed again when it is needed: the size
/// of the memory changes speed, never a tree.
class HistogramSlots {
 public:
  /// Keeps as many histograms of `cells` cells as fit `bytes`, but at least two.
  HistogramSlots(std::size_t cells, std::size_t bytes) : cache_{cells, bytes} {}

  /// Forgets the last tree.
  void Begin();
  /// Forgets the last tree, and keeps as many histograms from here on as fit `bytes`, but at least two.
  void SetBytes(std::size_t bytes);
  /// Memory that is given from here on is not taken away before the next level.
  void BeginLevel() { level_ = given_; }
  bool Has(NodeIndex node) const { return held(node).slot != HistogramCache::kNoSlot; }
  /// The memory [cells] of a node that has some.
  GradientSum* sums(NodeIndex node) const { return cache_.sums(held(node).slot); }

  /// Finds memory for `owner`: free one or, if it may be taken from others, that of the node which has had its own
  /// longest, other than `keep`. False, and nothing changed, if there is none. The first two calls of a level that may
  /// take find some.
  bool Acquire(NodeIndex owner, bool may_take, NodeIndex keep = kNoNode);
  /// The memory of `from` becomes that of `to`.
  void Pass(NodeIndex from, NodeIndex to);
  void Release(NodeIndex owner);

  std::size_t bytes() const { return cache_.bytes(); }

 private:
  struct Held {
    int slot{HistogramCache::kNoSlot};
    std::uint64_t gift{0};  ///< number of the gift that it came by
  };
  Held held(NodeIndex node) const {
    auto const n = static_cast<std::size_t>(node);
    return n < held_.size() ? held_[n] : Held{};
  }
  int Take(NodeIndex owner);
  void Give(NodeIndex owner, int slot);

  HistogramCache cache_;
  std::vector<Held> held_;                                   ///< [nodes]
  std::deque<std::pair<NodeIndex, std::uint64_t>> waiting_;  ///< (node, gift), in the order of gifts
  std::uint64_t given_{0};                                   ///< number of gifts so far
  std::uint64_t level_{0};                                   ///< the level's first gift
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_SLOTS_H_
