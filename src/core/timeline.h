/// Where the time of a training on a device goes: what ran when, for how long, and how many bytes it had to move.
#ifndef XGBGPU_CORE_TIMELINE_H_
#define XGBGPU_CORE_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/device.h"

namespace xgbgpu {

/// One stage of one level of one tree.
struct TimelineEntry {
  char const* stage;
  int tree;         ///< counted from 0
  int level;        ///< of the tree; of attended growth: its batch
  double start_us;  ///< since the timeline was made
  double duration_us;
  std::uint64_t bytes;  ///< that the stage must read and write at least
};

/// Collects entries by events on a stream. Recording costs an event per stage and keeps trees from being graphs: use it
/// to look, not to train.
class Timeline {
 public:
  explicit Timeline(cudaStream_t stream);
  ~Timeline();
  Timeline(Timeline const&) = delete;
  Timeline& operator=(Timeline const&) = delete;

  /// Forgets what an error has left of the last tree.
  void BeginTree();
  /// Everything enqueued between Start and Stop is the stage.
  void Start(char const* stage, int level);
  void Stop();
  /// Bytes of a stage of the current tree, known only when the tree is finished.
  void SetBytes(char const* stage, int level, std::uint64_t bytes);
  /// Call when the stream is idle: turns events into times.
  void Resolve();

  std::vector<TimelineEntry> const& entries() const { return entries_; }
  /// Appends the resolved entries to a file in Chrome's trace format, which about:tracing and Perfetto read, and
  /// forgets them. One row per stage; a new file is begun first. The format needs no end, so the file is good after
  /// every call. Throws InvalidArgument if the file cannot be written.
  void AppendTo(std::string const& file);

 private:
  struct Pending {
    std::size_t entry;
    cudaEvent_t start, stop;
  };
  cudaEvent_t NewEvent();
  void Free(Pending const& pending);

  cudaStream_t stream_;
  cudaEvent_t origin_{nullptr};  ///< of the current tree: single precision must do for times since then
  cudaEvent_t last_origin_{nullptr};
  double origin_us_{0};  ///< since the timeline was made
  int tree_{-1};
  std::vector<TimelineEntry> entries_;
  std::vector<std::string> rows_;  ///< of the file: stages, in the order of their first appearance
  bool file_begun_{false};
  std::vector<Pending> pending_;
  std::vector<cudaEvent_t> free_;
};

/// Names the stages of a tree for profilers (NVTX), and times them if there is a timeline.
class StageTimer {
 public:
  void SetTimeline(Timeline* timeline) { timeline_ = timeline; }
  Timeline* timeline() const { return timeline_; }

  /// enqueue() is the stage.
  template <typename F>
  void Run(char const* stage, int level, F&& enqueue) const {
    ProfilerRange range{stage};
    if (timeline_ != nullptr) timeline_->Start(stage, level);
    enqueue();
    if (timeline_ != nullptr) timeline_->Stop();
  }

 private:
  Timeline* timeline_{nullptr};
};

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_TIMELINE_H_
