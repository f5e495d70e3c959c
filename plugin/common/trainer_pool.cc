#include "trainer_pool.h"

#include <algorithm>

#include "adapt_input.h"
#include "api_call.h"

namespace xgbgpu::plugin {

namespace {

/// The same object, not merely the same address: owners differ although an address was used again.
bool SameObject(std::weak_ptr<xgboost::DMatrix> const& a, std::shared_ptr<xgboost::DMatrix> const& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

bool SamePlace(Place a, Place b) { return a.backend == b.backend && a.device == b.device; }

template <typename Slots>
void EraseExpired(Slots* slots) {
  slots->erase(std::remove_if(slots->begin(), slots->end(), [](auto const& slot) { return slot.owner.expired(); }),
               slots->end());
}

}  // namespace

DatasetCache& DatasetCache::Instance() {
  static auto* const kCache = new DatasetCache;  // never freed: at exit a backend's runtime may be gone already
  return *kCache;
}

std::shared_ptr<Dataset const> DatasetCache::Find(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin,
                                                  Place place) {
  bool const exact = max_bin == kNoBins;          // weights and groups make no difference
  bool const binned = !exact && IsBinned(*data);  // it has its bins, whatever max_bin says
  auto const& weights = data->Info().weights_.ConstHostVector();
  bool const hinted = CurrentApiCall() != ApiCall::kOther;
  for (auto& slot : slots_) {
    if (!SameObject(slot.owner, data) || !SamePlace(slot.place, place)) continue;
    if (!binned && slot.max_bin != max_bin) continue;
    bool const unchanged = binned || exact || (hinted && slot.epoch == MetaInfoEpoch()) ||
                           (slot.weights == weights && slot.groups == WeightGroups(data->Info()));
    if (!unchanged || slot.categorical != CategoricalFeatures(data->Info())) continue;
    if (hinted) slot.epoch = MetaInfoEpoch();
    if (auto dataset = slot.dataset.lock()) return dataset;
  }
  return nullptr;
}

std::shared_ptr<Dataset const> DatasetCache::Get(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin,
                                                 Place place, int threads) {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    DropExpiredLocked();
    if (auto dataset = Find(data, max_bin, place)) return dataset;
  }
  auto dataset = MakeDataset(data.get(), max_bin, threads, place);
  std::lock_guard<std::mutex> lock{mutex_};
  // If another thread was quicker, its dataset is for all: Find gives the first, and a booster with a trainer on a
  // later one would make a second trainer in its next round.
  if (auto found = Find(data, max_bin, place)) return found;
  auto const& info = data->Info();
  slots_.push_back({data,
                    max_bin,
                    place,
                    info.weights_.ConstHostVector(),
                    WeightGroups(info),
                    CategoricalFeatures(info),
                    {},
                    dataset});
  last_owner_ = data;
  last_ = dataset;
  return dataset;
}

void DatasetCache::DropExpired() {
  std::lock_guard<std::mutex> lock{mutex_};
  DropExpiredLocked();
}

void DatasetCache::DropExpiredLocked() {
  if (last_owner_.expired()) last_.reset();
  EraseExpired(&slots_);
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.dataset.expired(); }),
               slots_.end());
}

Training& TrainerPool::Get(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin, Place place, int threads) {
  DropExpired();
  auto dataset = DatasetCache::Instance().Get(data, max_bin, place, threads);
  std::lock_guard<std::mutex> lock{mutex_};
  auto const found = std::find_if(slots_.begin(), slots_.end(), [&](Slot const& slot) {
    return slot.training->dataset == dataset && slot.training->threads == threads;
  });
  if (found != slots_.end()) {
    std::rotate(slots_.begin(), found, found + 1);
    return *slots_.front().training;
  }
  if (max_bin != kNoBins) ReportMaxBin(data.get(), max_bin);
  constexpr std::size_t kTrainers = 2;
  if (slots_.size() == kTrainers) slots_.pop_back();  // before the new one needs memory
  auto training = std::make_unique<Training>();
  training->trainer = std::make_unique<Trainer>(dataset, place.backend, threads);
  training->dataset = std::move(dataset);
  training->threads = threads;
  training->memory = std::make_unique<MemoryBoard::Note>(*training->trainer);
  slots_.insert(slots_.begin(), Slot{data, std::move(training)});
  return *slots_.front().training;
}

Training* TrainerPool::FindMargins(xgboost::DMatrix const* data, std::uint32_t rounds) {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) {
    if (slot.training->own.rounds == rounds && slot.owner.lock().get() == data) return slot.training.get();
  }
  return nullptr;
}

Training* TrainerPool::Newest() {
  std::lock_guard<std::mutex> lock{mutex_};
  return slots_.empty() ? nullptr : slots_.front().training.get();
}

Training* TrainerPool::TrainingOf(xgboost::DMatrix const* data) {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) {
    if (slot.owner.lock().get() == data) return slot.training.get();
  }
  return nullptr;
}

void TrainerPool::ForgetMargins() {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) slot.training->Forget();
}

void TrainerPool::EndTraces() {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) slot.training->trainer->Trace(nullptr);
}

void TrainerPool::DropExpired() {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    EraseExpired(&slots_);
  }
  DatasetCache::Instance().DropExpired();
}

}  // namespace xgbgpu::plugin
