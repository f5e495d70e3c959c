// Opens the file of gpu_trace when a round begins, and closes it when the parameter changes.
#include "booster/booster_trace.h"

#include <string>

#include "base/quoted.h"
#include "errors/notice.h"
#include "group/process_group.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

void BoosterTrace::BeginRound(Settings* settings, Trainer* trainer) {
  std::string name = settings->config().device().gpu_trace;
  // Workers on one machine would write over each other's files.
  ProcessGroup const* const group = ProcessGroup::OfThisThread();
  if (!name.empty() && group != nullptr && group->shard() != 0) name += ".worker" + std::to_string(group->shard());
  if (name != (file_ == nullptr ? "" : file_->name())) {
    file_.reset();
    trainings_.EndTraces();  // the training of another matrix may have the file, too, which ends with its last owner
    if (!name.empty()) {
      file_ = std::make_shared<TraceFile>(name);
      settings->SetTraceFile(name);
    }
    if (file_ != nullptr && file_->replaces_another()) {
      WarnOnce("gpu_trace " + name, "parameter gpu_trace: " + QuotedName(name) +
                                        " is now written by another booster; the one before it writes no more.");
    }
  }
  trainer->Trace(file_);
  AttachThread(true);
}

void BoosterTrace::AttachThread(bool begins_round) const {
  if (!TraceFile::AnyOpen()) return;
  SetThreadTrace(file_);
  if (begins_round && file_ != nullptr) file_->SetRound(learner_.rounds());
}

}  // namespace xgbgpu::plugin
