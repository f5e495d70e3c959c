/// Times the stages of a tree or a round that run on the host.
#ifndef XGBGPU_BASE_STAGE_TIMER_H_
#define XGBGPU_BASE_STAGE_TIMER_H_

#include "base/host_memory.h"
#include "xgbgpu/trace.h"

namespace xgbgpu {

/// Writes the stages of one trainer to a trace file. Without a file it costs nothing.
class HostStageTimer {
 public:
  void SetFile(TraceFile* file) { file_ = file; }
  void BeginTree() { ++tree_; }

  /// Runs work() as the stage `stage`. Memory that it cannot get is reported with the name of the stage.
  template <typename F>
  void Run(char const* stage, int level, F&& work) const {
    double const start = file_ != nullptr ? file_->Now() : 0;
    WithMemoryFor(stage, work);
    int const tree = level == kNoLevel ? -1 : tree_;
    if (file_ != nullptr) file_->Add({stage, tree, level, start, file_->Now() - start, 0});
  }

 private:
  TraceFile* file_{nullptr};
  int tree_{-1};
};

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_STAGE_TIMER_H_
