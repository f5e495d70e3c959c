/// Memory for the histograms of nodes that may still be split.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_CACHE_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_CACHE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/buffer.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// A bounded set of slots of `cells` sums each. The first use of a slot takes its memory, which stays within the bound.
class HistogramCache {
 public:
  static constexpr int kNoSlot = -1;

  /// Holds the slots that fit `bytes`, but at least 2: a node and one of its children.
  HistogramCache(std::size_t cells, std::size_t bytes) : cells_{cells} { SetBytes(bytes); }

  /// Sets another bound, and frees all slots.
  void SetBytes(std::size_t bytes) {
    limit_ = std::max<std::size_t>(2, bytes / std::max<std::size_t>(1, cells_ * sizeof(GradientSum)));
    if (slots_.size() > limit_) slots_.resize(limit_);
    ReleaseAll();
  }

  /// Returns a free slot, or kNoSlot if all are in use.
  int Acquire() {
    if (free_.empty()) {
      if (slots_.size() == limit_) return kNoSlot;
      slots_.emplace_back(cells_);
      return static_cast<int>(slots_.size()) - 1;
    }
    int const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void Release(int slot) { free_.push_back(slot); }
  void ReleaseAll() {
    free_.resize(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) free_[i] = static_cast<int>(slots_.size() - 1 - i);
  }
  GradientSum* sums(int slot) const { return slots_[static_cast<std::size_t>(slot)].data(); }
  std::size_t bytes() const { return slots_.size() * cells_ * sizeof(GradientSum); }

 private:
  std::size_t cells_;
  std::size_t limit_{2};
  std::vector<Buffer<GradientSum>> slots_;
  std::vector<int> free_;
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_CACHE_H_
