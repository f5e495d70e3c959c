#include "histogram/histogram_slots.h"

#include <algorithm>

namespace xgbgpu::host {

void HistogramSlots::Begin() {
  cache_.ReleaseAll();
  slots_.clear();
  waiting_.clear();
}

/// Ends, because every slot in use has an entry in `waiting_` and there are two slots at least: if only `keep` holds
/// one, another is free.
bool HistogramSlots::Acquire(NodeIndex owner, bool may_take, NodeIndex keep) {
  int found = cache_.Acquire();
  while (found == HistogramCache::kNoSlot && may_take && !waiting_.empty()) {
    auto const [oldest, its_slot] = waiting_.front();
    waiting_.pop_front();
    if (slot(oldest) != its_slot) continue;  // released long ago
    if (oldest == keep) {
      waiting_.emplace_back(oldest, its_slot);
      if (waiting_.size() == 1) break;
      continue;
    }
    Release(oldest);
    found = cache_.Acquire();
  }
  if (found == HistogramCache::kNoSlot) return false;
  Give(owner, found);
  return true;
}

void HistogramSlots::Pass(NodeIndex from, NodeIndex to) {
  Give(to, std::exchange(slots_[static_cast<std::size_t>(from)], HistogramCache::kNoSlot));
}

void HistogramSlots::Release(NodeIndex owner) {
  if (!Has(owner)) return;
  cache_.Release(std::exchange(slots_[static_cast<std::size_t>(owner)], HistogramCache::kNoSlot));
}

void HistogramSlots::Give(NodeIndex owner, int slot) {
  auto const n = static_cast<std::size_t>(owner);
  if (slots_.size() <= n) slots_.resize(n + 1, HistogramCache::kNoSlot);
  slots_[n] = slot;
  waiting_.emplace_back(owner, slot);
}

}  // namespace xgbgpu::host
