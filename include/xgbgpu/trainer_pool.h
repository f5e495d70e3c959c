/// Which trainer of a model belongs to a data set.
#ifndef XGBGPU_TRAINER_POOL_H_
#define XGBGPU_TRAINER_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/training.h"

namespace xgbgpu {

/// The trainings of one model, most recently used first: two, so that a model may alternate between two data sets. All
/// calls but Get may be made while another thread makes one.
class XGBGPU_API TrainerPool {
 public:
  using Watch = std::function<std::unique_ptr<TrainerWatch>(Trainer const&)>;

  /// `watch` is asked for somebody who watches a new trainer; it may be empty.
  explicit TrainerPool(Watch watch = {}) : watch_{std::move(watch)} {}

  /// Returns the training on what `request` asks for, with so many threads of the host; valid until the next call for
  /// other data. `before_new`, which may be empty, is called before a new one is made. If the place has shards, all of
  /// them must ask at the same time.
  Training& Get(DatasetRequest const& request, int threads, std::function<void()> const& before_new = {});

  /// Returns the training whose own rows have the margins of the data `key` after `rounds` rounds, or null.
  Training* FindMargins(DataKey const& key, std::uint32_t rounds);

  /// Returns the training used last, or null.
  Training* Newest();

  /// Returns the training on these data, or null.
  Training* TrainingOf(DataKey const& key);

  /// The model was changed by others, so that no margins are the model's any more.
  void ForgetMargins();

  /// No trainer tells a file what it does any more.
  void EndTraces();

  /// Frees the trainings on data that are gone.
  void DropExpired();

 private:
  struct Slot {
    DataKey key;
    std::unique_ptr<Training> training;
  };

  Watch watch_;
  std::mutex mutex_;  // predictions may run at the same time
  std::vector<Slot> slots_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINER_POOL_H_
