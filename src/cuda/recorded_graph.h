/// Records the work of a stream once, and starts it as often as one likes.
#ifndef XGBGPU_CUDA_RECORDED_GRAPH_H_
#define XGBGPU_CUDA_RECORDED_GRAPH_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

namespace xgbgpu {

/// Empty at first. Its arguments, memory above all, must exist whenever it is started.
class RecordedGraph {
 public:
  RecordedGraph() = default;
  ~RecordedGraph() { Drop(); }
  RecordedGraph(RecordedGraph const&) = delete;
  RecordedGraph& operator=(RecordedGraph const&) = delete;

  bool recorded() const { return graph_ != nullptr; }
  void Drop() noexcept;
  /// Records the work that enqueue() enqueues on `stream`, and drops an earlier recording. After a failure the graph is
  /// empty. Another thread or library may cause the failure: code that waits for the whole device spoils a recording.
  void Record(cudaStream_t stream, std::function<void()> const& enqueue);
  /// Starts the recorded work, which must exist. `what`: as for CheckCuda.
  void Start(cudaStream_t stream, char const* what) const;

 private:
  cudaGraphExec_t graph_{nullptr};
};

/// For tests: the next n recordings of this process fail as if another thread had waited for the device meanwhile. The
/// first is spoilt from its beginning on, the second at its end, and so on in turn; n = 0 ends that. Returns how many
/// have failed in this way since the last call.
std::int64_t SpoilRecordings(std::int64_t n);

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_RECORDED_GRAPH_H_
