/// Spans of the host's work in a round, for traces (gpu_trace).
#ifndef XGBGPU_HOST_SPAN_H_
#define XGBGPU_HOST_SPAN_H_

#include <memory>
#include <optional>

#include "xgbgpu/api.h"
#include "xgbgpu/trace.h"

namespace xgbgpu {

/// Sets the trace file of the model that works on this thread; null: no trace. Does not keep the file alive.
XGBGPU_API void SetThreadTrace(std::shared_ptr<TraceFile> const& file);

/// A span from construction to destruction. The destructor adds it to the thread's file, because an entry point learns
/// only during the call which model it works for. Spans nest. Cost without a trace: one relaxed load.
class XGBGPU_API HostSpan {
 public:
  /// `what` must live as long as the program.
  explicit HostSpan(char const* what) : what_{what} {
    if (TraceFile::AnyOpen()) begin_ = TraceFile::Clock::now();
  }
  ~HostSpan() {
    if (begin_) Tell();
  }
  HostSpan(HostSpan const&) = delete;
  HostSpan& operator=(HostSpan const&) = delete;

 private:
  void Tell() const noexcept;

  char const* what_;
  std::optional<TraceFile::Clock::time_point> begin_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_HOST_SPAN_H_
