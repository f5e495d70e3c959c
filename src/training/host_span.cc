// Writes the spans of a thread to the trace file of the model that it works for.
#include "xgbgpu/host_span.h"

namespace xgbgpu {

namespace {

std::weak_ptr<TraceFile>& ThreadTrace() {
  static thread_local std::weak_ptr<TraceFile> file;
  return file;
}

}  // namespace

void SetThreadTrace(std::shared_ptr<TraceFile> const& file) { ThreadTrace() = file; }

void HostSpan::Tell() const noexcept {
  // A span that began before its file is of a booster that was traced from then on.
  auto const file = ThreadTrace().lock();
  if (file != nullptr && file->At(*begin_) >= 0) file->AddHostSpan(what_, file->At(*begin_));
}

}  // namespace xgbgpu
