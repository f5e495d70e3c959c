/// What the host does in a round, for gpu_trace: nested spans beside the stages of trees.
#ifndef XGBGPU_PLUGIN_HOST_SPAN_H_
#define XGBGPU_PLUGIN_HOST_SPAN_H_

#include <memory>
#include <optional>

#include "core/trace.h"

namespace xgbgpu::plugin {

/// The file of the booster that worked last on this thread; none if that one is not traced.
void SetThreadTrace(std::shared_ptr<TraceFile> const& file);

/// Its own lifetime, told to the thread's file at the end: a C function learns only then whose call it was. Costs one
/// relaxed load where nothing is traced.
class HostSpan {
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

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_HOST_SPAN_H_
