// Assigns histograms to nodes, and takes the oldest ones back.
#include "histogram/histogram_slots.h"

#include <algorithm>

namespace xgbgpu::host {

void HistogramSlots::Begin() {
  cache_.ReleaseAll();
  held_.clear();
  waiting_.clear();
}

void HistogramSlots::SetBytes(std::size_t bytes) {
  cache_.SetBytes(bytes);
  Begin();
}

bool HistogramSlots::Acquire(NodeIndex owner, bool may_take, NodeIndex keep) {
  int found = cache_.Acquire();
  while (found == HistogramCache::kNoSlot && may_take && !waiting_.empty() && waiting_.front().second < level_) {
    auto const [oldest, gift] = waiting_.front();
    waiting_.pop_front();
    if (!Has(oldest) || held(oldest).gift != gift) continue;  // released long ago
    int const slot = Take(oldest);
    if (oldest == keep) {
      Give(keep, slot);
    } else {
      found = slot;
    }
  }
  if (found == HistogramCache::kNoSlot) return false;
  Give(owner, found);
  return true;
}

void HistogramSlots::Pass(NodeIndex from, NodeIndex to) { Give(to, Take(from)); }

void HistogramSlots::Release(NodeIndex owner) {
  if (Has(owner)) cache_.Release(Take(owner));
}

int HistogramSlots::Take(NodeIndex owner) {
  return std::exchange(held_[static_cast<std::size_t>(owner)].slot, HistogramCache::kNoSlot);
}

void HistogramSlots::Give(NodeIndex owner, int slot) {
  auto const n = static_cast<std::size_t>(owner);
  if (held_.size() <= n) held_.resize(n + 1);
  held_[n] = {slot, given_};
  waiting_.emplace_back(owner, given_++);
}

}  // namespace xgbgpu::host
