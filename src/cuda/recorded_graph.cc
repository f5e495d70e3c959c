// Records the work of a stream as a CUDA graph, and launches it.
#include "cuda/recorded_graph.h"

#include <atomic>
#include <exception>

#include "cuda/device.h"

namespace xgbgpu {

namespace {

std::atomic<std::int64_t> recordings_to_spoil{0};
std::atomic<std::int64_t> recordings_chosen{0};
std::atomic<std::int64_t> recordings_spoilt{0};

/// Spoils what is recorded on a stream, if a test wants it, from the beginning or at the end.
class RecordingSpoiler {
 public:
  explicit RecordingSpoiler(cudaStream_t stream) : stream_{stream} {
    if (recordings_to_spoil.load() == 0) return;
    std::int64_t const number = recordings_chosen.fetch_add(1);
    if (number >= recordings_to_spoil.load()) return;
    number_ = number;
    if (number_ % 2 == 0) Spoil();
  }
  void AtEnd() const {
    if (number_ % 2 == 1) Spoil();
  }
  /// The recording has failed.
  void Failed() const {
    if (number_ >= 0) ++recordings_spoilt;
  }

 private:
  /// Does what is not allowed while a stream is recorded, and makes the whole recording invalid.
  void Spoil() const { cudaStreamSynchronize(stream_); }

  cudaStream_t stream_;
  std::int64_t number_{-1};  ///< among the recordings that are spoilt, from 0; negative: this one is not
};

}  // namespace

std::int64_t SpoilRecordings(std::int64_t n) {
  recordings_to_spoil.store(n);
  recordings_chosen.store(0);
  return recordings_spoilt.exchange(0);
}

void RecordedGraph::Drop() noexcept {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  graph_ = nullptr;
}

void RecordedGraph::Record(cudaStream_t stream, std::function<void()> const& enqueue) {
  Drop();
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    cudaGetLastError();  // it must not show up again at the next call
    return;
  }
  RecordingSpoiler const spoiler{stream};
  bool complete = true;
  try {
    enqueue();
  } catch (std::exception const&) {
    complete = false;
  }
  spoiler.AtEnd();
  cudaGraph_t graph = nullptr;
  cudaError_t status = cudaStreamEndCapture(stream, &graph);
  if (complete && status == cudaSuccess) status = cudaGraphInstantiate(&graph_, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (status == cudaSuccess) return;
  spoiler.Failed();
  graph_ = nullptr;
  cudaGetLastError();  // it must not show up again at the next call
}

void RecordedGraph::Start(cudaStream_t stream, char const* what) const {
  CheckCuda(cudaGraphLaunch(graph_, stream), what);
}

}  // namespace xgbgpu
