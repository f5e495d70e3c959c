/// Memory of the trainings of this process, for XGBGPUMemoryReport.
#ifndef XGBGPU_PLUGIN_BOOSTER_MEMORY_BOARD_H_
#define XGBGPU_PLUGIN_BOOSTER_MEMORY_BOARD_H_

#include <cstdint>
#include <list>
#include <mutex>
#include <string>

#include "xgbgpu/trainer.h"
#include "xgbgpu/training.h"
#include "xgbgpu/training_pool.h"

namespace xgbgpu::plugin {

/// Facts about a trainer, its data and their memory.
struct TrainingFacts {
  BackendKind backend;
  int device;   ///< where the data lie, or the first of several devices
  int devices;  ///< that have rows; 0 on the host
  std::uint64_t rows;
  FeatureIndex columns;
  std::size_t dataset_bytes;
  MemoryReport memory;
};

/// One note for each trainer. A trainer is not thread-safe: its own thread writes the note, which any thread may read.
class MemoryBoard {
 public:
  static MemoryBoard& Instance();

  /// A trainer's place on the board, for as long as the trainer lives.
  class Note final : public TrainerWatch {
   public:
    explicit Note(Trainer const& trainer);
    ~Note() override;
    Note(Note const&) = delete;
    Note& operator=(Note const&) = delete;

    /// Must be called by the thread that uses the trainer, when the trainer's memory may have changed.
    void Refresh() override;

   private:
    Trainer const& trainer_;
    std::uint64_t described_;  ///< Trainer::memory_version of `facts_`
    std::list<TrainingFacts>::iterator facts_;
  };

  /// All notes, oldest first, as the JSON array of xgboost_gpu.h.
  std::string Json();

 private:
  std::mutex mutex_;
  std::list<TrainingFacts> notes_;
};

/// Returns the watch that puts each new trainer on the board. It also tells the user of bins that are not in core.
TrainingPool::MakeWatch WatchMemory();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_MEMORY_BOARD_H_
