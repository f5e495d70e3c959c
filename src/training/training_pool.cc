// Keeps the two newest trainings of a model.
#include "xgbgpu/training_pool.h"

#include <algorithm>

#include "xgbgpu/collective.h"

namespace xgbgpu {

Training& TrainingPool::Get(DatasetRequest const& request, int threads, std::function<void()> const& before_new) {
  DropExpired();
  auto dataset = DatasetCache::Instance().Get(request);
  std::lock_guard<std::mutex> lock{mutex_};
  auto const found = std::find_if(slots_.begin(), slots_.end(), [&](Slot const& slot) {
    return slot.training->dataset == dataset && slot.training->threads == threads;
  });
  // Trainers of shards are made together: what one dropped or lost, all make anew.
  Collective* const shards = request.place.shards;
  bool const missing = found == slots_.end() || found->training->trainer->lost();
  bool const makes = shards == nullptr ? missing : shards->AnyOf(missing);
  if (makes && found != slots_.end()) {
    slots_.erase(found);
  } else if (!makes) {
    std::rotate(slots_.begin(), found, found + 1);
    return *slots_.front().training;
  }
  if (before_new) before_new();
  constexpr std::size_t kTrainings = 2;
  if (slots_.size() == kTrainings) slots_.pop_back();  // before the new one needs memory
  auto training = std::make_unique<Training>();
  training->trainer = std::make_unique<Trainer>(dataset, request.place.backend, threads);
  training->dataset = std::move(dataset);
  training->threads = threads;
  if (make_watch_) training->watch = make_watch_(*training->trainer);
  slots_.insert(slots_.begin(), Slot{request.key, std::move(training)});
  return *slots_.front().training;
}

std::pair<Training*, std::int64_t> TrainingPool::Find(DatasetRequest const& request, int threads) {
  DropExpired();
  auto const [dataset, number] = DatasetCache::Instance().Find(request);
  if (dataset == nullptr) return {nullptr, 0};
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
    if (slot->training->dataset != dataset || slot->training->threads != threads) continue;
    if (slot->training->trainer->lost()) break;
    std::rotate(slots_.begin(), slot, slot + 1);
    return {slots_.front().training.get(), number};
  }
  return {nullptr, 0};
}

Training* TrainingPool::FindMargins(DataKey const& key, std::uint32_t rounds) {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) {
    if (slot.training->own.rounds == rounds && slot.key == key) return slot.training.get();
  }
  return nullptr;
}

Training* TrainingPool::Newest() {
  std::lock_guard<std::mutex> lock{mutex_};
  return slots_.empty() ? nullptr : slots_.front().training.get();
}

Training* TrainingPool::TrainingOf(DataKey const& key) {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) {
    if (slot.key == key) return slot.training.get();
  }
  return nullptr;
}

void TrainingPool::ForgetMargins() {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) slot.training->Forget();
}

void TrainingPool::EndTraces() {
  std::lock_guard<std::mutex> lock{mutex_};
  for (auto const& slot : slots_) slot.training->trainer->Trace(nullptr);
}

void TrainingPool::DropExpired() {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    EraseExpired(&slots_);
  }
  DatasetCache::Instance().DropExpired();
}

}  // namespace xgbgpu
