#include "cached_bases.h"

#include <algorithm>

#include "adapt_input.h"

namespace xgbgpu::plugin {

bool CachedBases::DropOlder(float base, xgboost::DMatrix const& data, xgboost::PredictionCacheEntry* cache) {
  auto const owner = cache->ref.lock();
  if (owner == nullptr) return false;
  begun_.erase(std::remove_if(begun_.begin(), begun_.end(), [](Begun const& b) { return b.data.expired(); }),
               begun_.end());
  auto const known = std::find_if(begun_.begin(), begun_.end(), [&](Begun const& b) { return b.data.lock() == owner; });
  if (known == begun_.end()) {
    begun_.push_back({owner, {}});
    begun_.back().base.Set(data.Info(), base);
    return false;
  }
  Begun& begun = *known;
  bool const changes = !begun.base.IsOf(data.Info(), base);
  if (changes) {
    begun.base.Set(data.Info(), base);
    begun.has_changed = true;
    begun.current.clear();
  }
  auto& current = begun.current;
  if (!begun.has_changed || std::find(current.begin(), current.end(), cache) != current.end()) return false;
  Clear(cache);
  constexpr std::size_t kMostCaches = 16;  // of more threads than that some predict from the first round again
  if (current.size() == kMostCaches) current.erase(current.begin());
  current.push_back(cache);
  return changes;
}

}  // namespace xgbgpu::plugin
