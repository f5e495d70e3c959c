/// Measures the time of a training on a device: start, duration and least bytes of every stage.
#ifndef XGBGPU_CUDA_TIMELINE_H_
#define XGBGPU_CUDA_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "cuda/device.h"
#include "xgbgpu/trace.h"

namespace xgbgpu {

/// Collects stages by events on a stream. Recording costs two events per stage and keeps trees from being graphs: use
/// it to look, not to train.
///
/// Whenever events are turned into times, the device's clock is brought together with the host's: an event is recorded
/// and waited for, and is taken to have happened in the middle between the two. That is wrong by at most half of the
/// time between them (some 5 us).
class Timeline {
 public:
  explicit Timeline(cudaStream_t stream);
  ~Timeline();
  Timeline(Timeline const&) = delete;
  Timeline& operator=(Timeline const&) = delete;

  /// From now on stages that have a level belong to the next tree.
  void BeginTree() { ++tree_; }
  /// The stage is everything enqueued between Start and Stop. A stage that was not stopped is forgotten.
  void Start(char const* stage, int level);
  void Stop();
  /// Sets the bytes of a stage of the current tree. Call it when the tree is finished and Resolve was called.
  void SetBytes(char const* stage, int level, std::uint64_t bytes);
  /// Call when the stream is idle: turns events into times.
  void Resolve();

  /// `start_us` counts from when the timeline was made.
  std::vector<TraceStage> const& entries() const { return entries_; }
  /// Moves the resolved entries to the file. Follows Resolve: the host's time since that began is told as "tracing".
  void MoveTo(TraceFile* file);

 private:
  struct Pending {
    TraceStage entry;
    cudaEvent_t start, stop;
    bool stopped;
  };
  cudaEvent_t NewEvent();
  void Free(Pending const& pending);
  double Now() const;
  void SetOrigin();

  cudaStream_t stream_;
  TraceFile::Clock::time_point made_;
  cudaEvent_t origin_{nullptr};  ///< is recorded anew at every Resolve: times since then come in single precision
  double origin_us_{0};          ///< time of origin_, counted from when the timeline was made
  double resolving_us_{0};       ///< when the last Resolve began, counted from when the timeline was made
  int tree_{-1};
  std::vector<TraceStage> entries_;
  std::vector<Pending> pending_;
  std::vector<cudaEvent_t> free_;
};

/// Names the stages of a tree for profilers (NVTX), and times them if there is a timeline.
class StageTimer {
 public:
  void SetTimeline(Timeline* timeline) { timeline_ = timeline; }
  Timeline* timeline() const { return timeline_; }

  /// Calls enqueue(). The work that it enqueues is the stage.
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

#endif  // XGBGPU_CUDA_TIMELINE_H_
