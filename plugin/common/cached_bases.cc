#include "cached_bases.h"

#include <algorithm>

#include "adapt_input.h"

namespace xgbgpu::plugin {

bool CachedBases::DropOlder(float base, xgboost::DMatrix const& data, xgboost::PredictionCacheEntry* cache) {
  auto const owner = cache->ref.lock();
  if (owner == nullptr) return false;
  begun_.erase(std::remove_if(begun_.begin(), begun_.end(), [](Begun const& b) { return b.data.expired(); }),
               begun_.end());
  auto known = std::find_if(begun_.begin(), begun_.end(), [&](Begun const& b) { return b.data.lock() == owner; });
  bool const is_known = known != begun_.end();
  if (!is_known) known = begun_.insert(begun_.end(), {owner, {}, {}});
  bool const changes = !is_known || !known->base.IsOf(data.Info(), base);
  auto& current = known->current;
  if (changes) {
    known->base.Set(data.Info(), base);
    current.clear();
  }
  if (current.count(cache) != 0) return false;
  Clear(cache);
  constexpr std::size_t kMostCaches = 1 << 16;  // of threads, most of which are gone by then
  if (current.size() == kMostCaches) current.clear();
  current.insert(cache);
  return is_known && changes;
}

void CachedBases::Leave(float base, xgboost::DMatrix const& data) {
  auto const has_other = [&](Begun& b) {
    auto const owner = b.data.lock();
    return owner.get() == &data && !b.base.IsOf(data.Info(), base);
  };
  begun_.erase(std::remove_if(begun_.begin(), begun_.end(), has_other), begun_.end());
}

}  // namespace xgbgpu::plugin
