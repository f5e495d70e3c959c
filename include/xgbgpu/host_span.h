/// What the host does in a round, for gpu_trace: nested spans beside the stages of trees.
#ifndef XGBGPU_HOST_SPAN_H_
#define XGBGPU_HOST_SPAN_H_

#include <memory>
#include <optional>

#include "xgbgpu/api.h"
#include "xgbgpu/trace.h"

namespace xgbgpu {

/// `file` is that of the model that works on this thread; null if that one is not traced. It is not kept alive.
XGBGPU_API void SetThreadTrace(std::shared_ptr<TraceFile> const& file);

/// Tells the thread's file at its end how long it has lived. It does so at the end, because a function that is called
/// by a user learns only inside whose call it was. Costs one relaxed load where nothing is traced.
class XGBGPU_API HostSpan {
 public:
  /// `what` lives as long as the program.
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
