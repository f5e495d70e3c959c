#include "cached_bases.h"

#include <algorithm>
#include <string_view>

#include "adapt_input.h"
#include "api_call.h"

namespace xgbgpu::plugin {

namespace {

std::size_t HashOf(std::vector<float> const& values) {
  return std::hash<std::string_view>{}({reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float)});
}

}  // namespace

bool CachedBases::DropOlder(float base, xgboost::DMatrix const& data, xgboost::PredictionCacheEntry* cache) {
  auto const owner = cache->ref.lock();
  if (owner == nullptr) return false;
  std::lock_guard<std::mutex> lock{mutex_};
  begun_.erase(std::remove_if(begun_.begin(), begun_.end(), [](Begun const& b) { return b.data.expired(); }),
               begun_.end());
  auto const known = std::find_if(begun_.begin(), begun_.end(), [&](Begun const& b) { return b.data.lock() == owner; });
  bool const hinted = CurrentApiCall() != ApiCall::kOther;
  std::uint64_t const epoch = MetaInfoEpoch();
  bool const same_margins = known != begun_.end() && hinted && known->epoch == epoch;
  std::size_t const margins =
      same_margins ? known->margins : HashOf(data.Info().base_margin_.Data()->ConstHostVector());
  if (known == begun_.end()) {
    begun_.push_back({owner, base, margins, epoch});
    return false;
  }
  Begun& begun = *known;
  bool const changes = begun.base != base || begun.margins != margins;
  begun.base = base;
  begun.margins = margins;
  begun.epoch = epoch;
  if (changes) {
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
