// Remembers what cached margins began with, and tells stale caches.
#include "xgbgpu/margin_bases.h"

#include <algorithm>

namespace xgbgpu {

MarginBases::Stale MarginBases::Begin(DataKey const& key, BaseMargins const& base, DataEpoch const& epoch,
                                      void const* cache) {
  EraseExpired(&begun_);
  auto known = std::find_if(begun_.begin(), begun_.end(), [&](Begun const& b) { return b.key == key; });
  bool const is_known = known != begun_.end();
  if (!is_known) known = begun_.insert(begun_.end(), {key, {}, {}});
  bool const changes = !is_known || !known->base.IsOf(base, epoch);
  auto& current = known->current;
  if (changes) {
    known->base.Set(base, epoch);
    current.clear();
  }
  if (current.count(cache) != 0) return {false, false};
  constexpr std::size_t kMostCaches = 1 << 16;  // of threads, most of which are gone by then
  if (current.size() == kMostCaches) current.clear();
  current.insert(cache);
  return {true, is_known && changes};
}

void MarginBases::LeaveToXGBoost(DataKey const& key, BaseMargins const& base, DataEpoch const& epoch) {
  auto const has_other = [&](Begun& b) { return b.key == key && !b.base.IsOf(base, epoch); };
  begun_.erase(std::remove_if(begun_.begin(), begun_.end(), has_other), begun_.end());
}

void MarginBases::Forget(DataKey const& key) {
  auto const is_of_key = [&](Begun& b) { return b.key == key; };
  begun_.erase(std::remove_if(begun_.begin(), begun_.end(), is_of_key), begun_.end());
}

}  // namespace xgbgpu
