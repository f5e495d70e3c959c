/// The file that parameter gpu_trace names.
#ifndef XGBGPU_PLUGIN_BOOSTER_BOOSTER_TRACE_H_
#define XGBGPU_PLUGIN_BOOSTER_BOOSTER_TRACE_H_

#include <memory>

#include "base/stage_timer.h"
#include "booster/learner_view.h"
#include "booster/settings.h"
#include "xgbgpu/training_pool.h"

namespace xgbgpu::plugin {

/// Writes the times of one booster's rounds to a file.
class BoosterTrace {
 public:
  BoosterTrace(LearnerView const& learner, TrainingPool* trainings) : learner_{learner}, trainings_{*trainings} {}

  /// Opens or closes the file as gpu_trace says now, before a round of `trainer`. Throws InvalidArgument if the file
  /// cannot be written.
  void BeginRound(Settings* settings, Trainer* trainer);
  /// Has spans of this thread go to the file. `begins_round`: they belong to the coming round.
  void AttachThread(bool begins_round) const;
  /// Writes to the file what it was told so far.
  void Flush() const {
    if (file_ != nullptr) file_->Write();
  }

  /// Runs work(), a stage that the host does for a round, and tells the file how long it took.
  template <typename F>
  void Stage(char const* stage, F&& work) const {
    HostStageTimer timer;
    timer.SetFile(file_.get());
    timer.Run(stage, kNoLevel, work);
  }

 private:
  LearnerView const& learner_;
  TrainingPool& trainings_;
  std::shared_ptr<TraceFile> file_;  ///< null: nothing is traced
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_BOOSTER_TRACE_H_
