/// Which nodes of a growing tree have their histograms in memory.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_SLOTS_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_SLOTS_H_

#include <cstddef>
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
  bool Has(NodeIndex node) const { return slot(node) != HistogramCache::kNoSlot; }
  /// The memory [cells] of a node that has some.
  GradientSum* sums(NodeIndex node) const { return cache_.sums(slot(node)); }

  /// Finds memory for `owner`: free one or, if it may be taken from others, that of the node which has had its own
  /// longest, other than `keep`. False, and nothing changed, if there is none.
  bool Acquire(NodeIndex owner, bool may_take, NodeIndex keep = kNoNode);
  /// The memory of `from` becomes that of `to`.
  void Pass(NodeIndex from, NodeIndex to);
  void Release(NodeIndex owner);

  std::size_t bytes() const { return cache_.bytes(); }

 private:
  int slot(NodeIndex node) const {
    auto const n = static_cast<std::size_t>(node);
    return n < slots_.size() ? slots_[n] : HistogramCache::kNoSlot;
  }
  void Give(NodeIndex owner, int slot);

  HistogramCache cache_;
  std::vector<int> slots_;                         ///< [nodes]; kNoSlot: none
  std::deque<std::pair<NodeIndex, int>> waiting_;  ///< (node, slot) in the order in which they were given
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_SLOTS_H_
