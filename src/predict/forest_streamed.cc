#include <algorithm>
#include <array>

#include "core/device.h"
#include "core/parallel.h"
#include "core/piece_stream.h"
#include "predict/forest_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kWhat = "predicting with rows of the host";

/// What a prediction with streamed rows is made of.
struct Job {
  FeatureIndex features;  ///< of the source
  DeviceForest const& forest;
  std::size_t first_tree;
  std::size_t last_tree;
  OutputView<float> margins;  ///< of all rows, on the host
  DeviceLimits limits;
  int threads;
};

/// One of the places that blocks of rows take in turn, with a stream of its own: copies of one place run beside the
/// kernels of the others.
class Place {
 public:
  Place() = default;
  ~Place() { cudaStreamSynchronize(stream_); }  // an error on the way here may leave work that needs the memory
  Place(Place const&) = delete;
  Place& operator=(Place const&) = delete;

  void Start(Job const& job, RowRun const& run);
  /// Waits for the block that was started, if there is one, and writes its margins to the host's.
  void Finish(Job const& job);
  cudaStream_t stream() const { return stream_; }

 private:
  template <typename T>
  T* Pinned(std::size_t bytes) {
    if (values_.size() < bytes) values_ = PinnedBuffer<std::uint8_t>{bytes};
    return reinterpret_cast<T*>(values_.data());
  }
  RawView LoadDense(Job const& job, RowRun const& run);
  RawView LoadSparse(Job const& job, RowRun const& run);
  void Upload(std::size_t bytes);
  /// f(margin of the host, pinned margin) for the block's rows.
  template <typename F>
  void ForEachMargin(Job const& job, F&& f);

  DeviceArena arena_{"Predicting on the GPU"};
  PinnedBuffer<std::uint8_t> values_;
  PinnedBuffer<float> margins_;
  DeviceBuffer<std::uint8_t> device_values_;
  DeviceBuffer<float> tiles_;
  DeviceBuffer<float> device_margins_;
  std::uint64_t first_row_{0};
  std::uint64_t rows_{0};  ///< of the block on its way
  Stream stream_;
};

template <typename F>
void Place::ForEachMargin(Job const& job, F&& f) {
  constexpr std::size_t kGrain = 1 << 14;  // rows per task
  ParallelChunks(job.threads, rows_, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::uint32_t o = 0; o < job.margins.outputs; ++o) {
      for (std::size_t i = begin; i < end; ++i) f(job.margins.at(first_row_ + i, o), margins_[o * rows_ + i]);
    }
  });
}

void Place::Upload(std::size_t bytes) {
  Reserve(&device_values_, &arena_, "raw values on their way", bytes);
  CopyToDevice(device_values_.data(), values_.data(), bytes, stream_, kWhat);
}

RawView Place::LoadDense(Job const& job, RowRun const& run) {
  std::size_t const bytes = run.n * job.features * sizeof(float);
  PackDenseRows(run, job.features, Pinned<float>(bytes), job.threads);
  Upload(bytes);
  Reserve(&tiles_, &arena_, "raw values", TiledValues(run.n, job.features));
  ClearLastTile(run.n, job.features, tiles_.data(), stream_);
  TileRows(reinterpret_cast<float const*>(device_values_.data()), run.n, job.features, 0, tiles_.data(), stream_);
  return {run.n, job.features, true, tiles_.data(), nullptr, nullptr};
}

RawView Place::LoadSparse(Job const& job, RowRun const& run) {
  std::size_t const offsets = (run.n + 1) * sizeof(std::uint64_t);
  std::size_t const bytes = offsets + run.values() * sizeof(Entry);
  auto* const pinned = Pinned<std::uint8_t>(bytes);
  PackSparseRows(run, job.features, 0, reinterpret_cast<std::uint64_t*>(pinned),
                 reinterpret_cast<Entry*>(pinned + offsets), job.threads);
  Upload(bytes);
  std::uint8_t const* const device = device_values_.data();
  return {run.n,
          job.features,
          false,
          nullptr,
          reinterpret_cast<std::uint64_t const*>(device),
          reinterpret_cast<Entry const*>(device + offsets)};
}

void Place::Start(Job const& job, RowRun const& run) {
  std::uint32_t const outputs = job.margins.outputs;
  std::size_t const count = run.n * outputs;
  if (margins_.size() < count) margins_ = PinnedBuffer<float>{count};
  Reserve(&device_margins_, &arena_, "margins", count);
  RawView const view = RowsAreDense(run.n, job.features, run.values()) ? LoadDense(job, run) : LoadSparse(job, run);
  first_row_ = run.first_row();
  rows_ = run.n;
  ForEachMargin(job, [](float const& host, float& pinned) { pinned = host; });
  CopyToDevice(device_margins_.data(), margins_.data(), count, stream_, kWhat);
  PredictMargins(view, job.forest, job.first_tree, job.last_tree, OutputMajor(device_margins_.data(), rows_, outputs),
                 job.limits, stream_);
  CopyToHost(margins_.data(), device_margins_.data(), count, stream_, kWhat);
}

void Place::Finish(Job const& job) {
  if (rows_ == 0) return;
  stream_.Wait(kWhat);
  ForEachMargin(job, [](float& host, float const& pinned) { host = pinned; });
  rows_ = 0;
}

}  // namespace

void PredictMarginsStreamed(RowSource const& source, DeviceForest const* forest, std::size_t first_tree,
                            std::size_t last_tree, OutputView<float> margins, int device, int threads) {
  CheckTreeRange(first_tree, last_tree, forest->trees());
  CheckMargins(margins, source.rows(), forest->outputs());
  if (first_tree == last_tree) return;
  DeviceScope const scope{device};
  Job const job{source.features(), *forest, first_tree, last_tree, margins, CurrentDeviceLimits(), threads};
  std::array<Place, 3> places;
  for (Place& place : places) {
    CheckCuda(cudaStreamWaitEvent(place.stream(), forest->arrived(), 0), "waiting for trees");
  }
  // A block's values and its margins fill a piece each, at most, unless it has one row.
  std::size_t const row_bytes = std::size_t{std::max(1U, std::max(job.features, margins.outputs))} * sizeof(float);
  std::uint64_t const most_rows = std::max<std::uint64_t>(1, kPieceBytes / row_bytes);
  std::uint64_t const most_values = kPieceBytes / sizeof(float);
  std::size_t turn = 0;
  ForEachRun(source, most_rows, most_values, [&](RowRun const& run) {
    Place& place = places[turn++ % places.size()];
    place.Finish(job);
    place.Start(job, run);
  });
  for (std::size_t i = 0; i < places.size(); ++i) places[(turn + i) % places.size()].Finish(job);
}

}  // namespace xgbgpu::cuda
