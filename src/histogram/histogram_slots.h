/// Keeps the histograms of a growing tree's nodes in bounded memory.
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

/// Assigns memory to the histograms of nodes. A histogram without memory is summed again when needed: the size of the
/// memory changes speed, never a tree.
class HistogramSlots {
 public:
  /// Keeps the histograms of `cells` cells that fit `bytes`, but at least two.
  HistogramSlots(std::size_t cells, std::size_t bytes) : cache_{cells, bytes} {}

  /// Drops the last tree.
  void Begin();
  /// Drops the last tree, and keeps the histograms that fit `bytes`, but at least two.
  void SetBytes(std::size_t bytes);
  /// Starts a level. Memory assigned from here on stays assigned until the next level.
  void BeginLevel() { level_ = given_; }
  bool Has(NodeIndex node) const { return held(node).slot != HistogramCache::kNoSlot; }
  /// Returns the memory [cells] of a node that has memory.
  GradientSum* sums(NodeIndex node) const { return cache_.sums(held(node).slot); }

  /// Assigns memory to `owner`: free memory or, with may_take, the memory of the node with the oldest assignment, other
  /// than `keep`. Returns false without any change if there is none. The first two calls of a level with may_take
  /// succeed.
  bool Acquire(NodeIndex owner, bool may_take, NodeIndex keep = kNoNode);
  /// Transfers the memory of `from` to `to`.
  void Pass(NodeIndex from, NodeIndex to);
  void Release(NodeIndex owner);

  std::size_t bytes() const { return cache_.bytes(); }

 private:
  struct Held {
    int slot{HistogramCache::kNoSlot};
    std::uint64_t gift{0};  ///< number of the assignment
  };
  Held held(NodeIndex node) const {
    auto const n = static_cast<std::size_t>(node);
    return n < held_.size() ? held_[n] : Held{};
  }
  int Take(NodeIndex owner);
  void Give(NodeIndex owner, int slot);

  HistogramCache cache_;
  std::vector<Held> held_;                                   ///< [nodes]
  std::deque<std::pair<NodeIndex, std::uint64_t>> waiting_;  ///< (node, gift), in the order of assignments
  std::uint64_t given_{0};                                   ///< number of assignments so far
  std::uint64_t level_{0};                                   ///< the level's first assignment
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_SLOTS_H_
