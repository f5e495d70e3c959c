/// The trainings of a model, by data set.
#ifndef XGBGPU_TRAINING_POOL_H_
#define XGBGPU_TRAINING_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/training.h"

namespace xgbgpu {

/// The trainings of one model. Keeps the two that were used last, so that a model may alternate between two data sets.
/// Only one thread may be in Get; other calls may be made at any time.
class XGBGPU_API TrainingPool {
 public:
  /// Makes the watch of a new trainer.
  using MakeWatch = std::function<std::unique_ptr<TrainerWatch>(Trainer const&)>;

  /// `make_watch` may be empty: trainers have no watch.
  explicit TrainingPool(MakeWatch make_watch = {}) : make_watch_{std::move(make_watch)} {}

  /// Returns the training on the dataset of `request`, with `threads` threads of the host. It is valid until Get for
  /// other data. Calls before_new(), if not empty, before it makes a training. If the place has shards, all shards call
  /// it at the same time.
  Training& Get(DatasetRequest const& request, int threads, std::function<void()> const& before_new = {});

  /// Returns the training that Get would return without making anything, and the number of its dataset
  /// (DatasetCache::Find); null and 0 if Get would make something. Shards do not communicate.
  std::pair<Training*, std::int64_t> Find(DatasetRequest const& request, int threads);

  /// Returns the training whose own rows have the margins of data set `key` after `rounds` rounds, or null.
  Training* FindMargins(DataKey const& key, std::uint32_t rounds);

  /// Returns the training that was used last, or null.
  Training* Newest();

  /// Returns the training on data set `key`, or null.
  Training* TrainingOf(DataKey const& key);

  /// Marks all margins as not the model's, because the model has changed outside the trainings.
  void ForgetMargins();

  /// Ends the traces of all trainers.
  void EndTraces();

  /// Frees the trainings on data sets that are gone.
  void DropExpired();

 private:
  struct Slot {
    DataKey key;
    std::unique_ptr<Training> training;
  };

  MakeWatch make_watch_;
  std::mutex mutex_;  // predictions may run at the same time
  std::vector<Slot> slots_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINING_POOL_H_
