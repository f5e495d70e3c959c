// Finds the quantised form of a data set among the newest, or makes it.
#include "xgbgpu/dataset_cache.h"

#include <algorithm>
#include <random>
#include <utility>

#include "xgbgpu/collective.h"

namespace xgbgpu {

namespace {

bool SamePlace(Place const& a, Place const& b) {
  return a.backend == b.backend && a.device == b.device && a.devices == b.devices && a.shards == b.shards &&
         a.with_rows == b.with_rows && a.memory == b.memory;
}

/// Returns a number that shard 0 draws, for all shards. It is not 0.
std::int64_t DrawNumber(Collective* shards) {
  std::int64_t drawn = 1;
  if (shards->shard() == 0) {
    std::random_device device;  // which dataset is which never shows in a model
    drawn = static_cast<std::int64_t>(((std::uint64_t{device()} << 32 | device()) >> 2) + 2);
  }
  return shards->MaxOf(drawn);
}

template <typename T>
bool SameValues(std::vector<T> const& a, Span<T const> b) {
  return std::equal(a.cbegin(), a.cend(), b.begin(), b.end());
}

}  // namespace

DatasetCache& DatasetCache::Instance() {
  static auto* const kCache = new DatasetCache;  // never freed: at exit a backend's runtime may be gone already
  return *kCache;
}

std::pair<std::shared_ptr<Dataset const>, std::int64_t> DatasetCache::FindLocked(DatasetRequest const& request) {
  bool const needs_no_weights = request.has_own_bins || request.max_bin == kNoBins;
  for (auto& slot : slots_) {
    if (slot.key != request.key || !SamePlace(slot.place, request.place)) continue;
    bool const same_bins = slot.max_bin == request.max_bin || (request.has_own_bins && request.max_bin != kNoBins);
    if (!same_bins) continue;
    bool const unchanged = needs_no_weights || (request.epoch && slot.epoch == request.epoch) ||
                           (SameValues(slot.weights, request.weights) && SameValues(slot.groups, request.groups));
    if (!unchanged || !SameValues(slot.categorical, request.categorical)) continue;
    if (request.epoch) slot.epoch = request.epoch;
    if (auto dataset = slot.dataset.lock()) return {dataset, slot.made};
  }
  return {nullptr, 0};
}

std::pair<std::shared_ptr<Dataset const>, std::int64_t> DatasetCache::Find(DatasetRequest const& request) {
  DropExpired();
  std::lock_guard<std::mutex> lock{mutex_};
  return FindLocked(request);
}

std::shared_ptr<Dataset const> DatasetCache::Get(DatasetRequest const& request) {
  if (request.place.shards != nullptr) return GetWithShards(request);
  DropExpired();
  {
    std::lock_guard<std::mutex> lock{mutex_};
    if (auto dataset = FindLocked(request).first) return dataset;
  }
  auto dataset = request.make();
  std::shared_ptr<Dataset const> before;  // goes without the lock
  std::lock_guard<std::mutex> lock{mutex_};
  // If another thread was quicker, its dataset is for all: FindLocked gives the first, and a model with a trainer on a
  // later one would make a second trainer in its next round.
  if (auto found = FindLocked(request).first) return found;
  before = KeepLocked(request, dataset, 1);
  return dataset;
}

std::shared_ptr<Dataset const> DatasetCache::GetWithShards(DatasetRequest const& request) {
  Collective* const shards = request.place.shards;
  auto const found = Find(request);
  std::int64_t most[] = {found.second, -found.second};
  shards->Max({most, 2});
  if (found.second != 0 && most[0] == -most[1]) return found.first;
  auto dataset = request.make();
  std::int64_t const made = DrawNumber(shards);
  std::shared_ptr<Dataset const> before;  // goes without the lock
  std::lock_guard<std::mutex> lock{mutex_};
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(),
                              [&](Slot const& slot) { return slot.key == request.key && slot.place.shards == shards; }),
               slots_.end());
  before = KeepLocked(request, dataset, made);
  return dataset;
}

std::shared_ptr<Dataset const> DatasetCache::KeepLocked(DatasetRequest const& request,
                                                        std::shared_ptr<Dataset const> dataset, std::int64_t made) {
  slots_.push_back({request.key,
                    request.max_bin,
                    request.place,
                    {request.weights.begin(), request.weights.end()},
                    {request.groups.begin(), request.groups.end()},
                    {request.categorical.begin(), request.categorical.end()},
                    {},
                    dataset,
                    made});
  last_key_ = request.key;
  return std::exchange(last_, std::move(dataset));
}

void DatasetCache::DropExpired() {
  std::shared_ptr<Dataset const> gone;  // without the lock: to free memory of a device is to wait for what runs there
  std::lock_guard<std::mutex> lock{mutex_};
  if (last_key_.expired()) gone = std::move(last_);
  EraseExpired(&slots_);
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.dataset.expired(); }),
               slots_.end());
}

}  // namespace xgbgpu
