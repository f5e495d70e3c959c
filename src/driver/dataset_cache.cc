#include "driver/dataset_cache.h"

#include <algorithm>

namespace xgbgpu {

namespace {

bool SamePlace(Place a, Place b) { return a.backend == b.backend && a.device == b.device; }

template <typename T>
bool SameValues(std::vector<T> const& a, Span<T const> b) {
  return std::equal(a.cbegin(), a.cend(), b.begin(), b.end());
}

}  // namespace

DatasetCache& DatasetCache::Instance() {
  static auto* const kCache = new DatasetCache;  // never freed: at exit a backend's runtime may be gone already
  return *kCache;
}

std::shared_ptr<Dataset const> DatasetCache::FindLocked(DatasetRequest const& request) {
  bool const needs_no_weights = request.has_own_bins || request.max_bin == kNoBins;
  for (auto& slot : slots_) {
    if (slot.key != request.key || !SamePlace(slot.place, request.place)) continue;
    bool const same_bins = slot.max_bin == request.max_bin || (request.has_own_bins && request.max_bin != kNoBins);
    if (!same_bins) continue;
    bool const unchanged = needs_no_weights || (request.epoch && slot.epoch == request.epoch) ||
                           (SameValues(slot.weights, request.weights) && SameValues(slot.groups, request.groups));
    if (!unchanged || !SameValues(slot.categorical, request.categorical)) continue;
    if (request.epoch) slot.epoch = request.epoch;
    if (auto dataset = slot.dataset.lock()) return dataset;
  }
  return nullptr;
}

std::shared_ptr<Dataset const> DatasetCache::Get(DatasetRequest const& request) {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    DropExpiredLocked();
    if (auto dataset = FindLocked(request)) return dataset;
  }
  auto dataset = request.make();
  std::lock_guard<std::mutex> lock{mutex_};
  // If another thread was quicker, its dataset is for all: FindLocked gives the first, and a model with a trainer on a
  // later one would make a second trainer in its next round.
  if (auto found = FindLocked(request)) return found;
  slots_.push_back({request.key,
                    request.max_bin,
                    request.place,
                    {request.weights.begin(), request.weights.end()},
                    {request.groups.begin(), request.groups.end()},
                    {request.categorical.begin(), request.categorical.end()},
                    {},
                    dataset});
  last_key_ = request.key;
  last_ = dataset;
  return dataset;
}

void DatasetCache::DropExpired() {
  std::lock_guard<std::mutex> lock{mutex_};
  DropExpiredLocked();
}

void DatasetCache::DropExpiredLocked() {
  if (last_key_.expired()) last_.reset();
  EraseExpired(&slots_);
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.dataset.expired(); }),
               slots_.end());
}

}  // namespace xgbgpu
