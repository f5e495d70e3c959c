// Copies blocks of rows to a device in turn, and takes their results.
#include "predict/row_stream_cuda.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kPredicting = "predicting with rows of the host";
constexpr std::size_t kPlaces = 3;

}  // namespace

/// One of several places for blocks of rows, used in turn, with its own stream: copies of one place run beside the
/// kernels of other places.
class RowStream::Place {
 public:
  Place() { CheckCuda(cudaGetDevice(&device_), "asking for the current device"); }
  ~Place() { cudaStreamSynchronize(stream_); }  // after an error, work in flight may still need the memory
  Place(Place const&) = delete;
  Place& operator=(Place const&) = delete;

  /// Starts a block. load() enqueues the copy of its rows, and returns their view.
  template <typename Load>
  void Start(RowJob const& job, std::uint64_t first_row, std::uint64_t rows, Load&& load);
  RawView LoadEntries(RowJob const& job, RowRun const& run);
  RawView LoadArray(RowJob const& job, DenseValues const& values, std::uint64_t first_row, std::uint64_t rows);
  /// Drops the started block, if there is one.
  void Abandon();
  /// Waits for the started block, if there is one, and passes its results to the job.
  void Finish(RowJob const& job);
  cudaStream_t stream() const { return stream_; }

 private:
  template <typename T>
  T* Pinned(std::size_t bytes) {
    if (values_.size() < bytes) values_ = PinnedBuffer<std::uint8_t>{bytes};
    return reinterpret_cast<T*>(values_.data());
  }
  /// Arranges rows in device memory as tiles, and returns their view.
  RawView Tile(ArrayPiece const& rows, FeatureIndex features);
  RawView LoadDense(RowJob const& job, RowRun const& run);
  RawView LoadSparse(RowJob const& job, RowRun const& run);
  void Upload(std::size_t bytes);

  DeviceArena arena_{"Predicting on the GPU"};
  PinnedBuffer<std::uint8_t> values_;
  PinnedBuffer<float> results_;
  DeviceBuffer<std::uint8_t> device_values_;
  DeviceBuffer<float> tiles_;
  DeviceBuffer<double> scratch_;
  DeviceBuffer<float> device_results_;
  int device_{0};
  std::uint64_t first_row_{0};
  std::uint64_t rows_{0};  ///< of the block in flight
  Stream stream_;
};

void RowStream::Place::Abandon() {
  if (rows_ != 0) stream_.Wait(kPredicting);
  rows_ = 0;
}

void RowStream::Place::Upload(std::size_t bytes) {
  Reserve(&device_values_, &arena_, "raw values on their way", bytes);
  CopyToDevice(device_values_.data(), values_.data(), bytes, stream_, kPredicting);
}

RawView RowStream::Place::Tile(ArrayPiece const& rows, FeatureIndex features) {
  Reserve(&tiles_, &arena_, "raw values", TiledValues(rows.n, features));
  ClearLastTile(rows.n, features, tiles_.data(), stream_);
  TileRows(rows, features, tiles_.data(), stream_);
  return {rows.n, features, true, tiles_.data(), nullptr, nullptr};
}

RawView RowStream::Place::LoadDense(RowJob const& job, RowRun const& run) {
  std::size_t const bytes = run.n * job.features() * sizeof(float);
  PackDenseRows(run, job.features(), Pinned<float>(bytes), job.threads());
  Upload(bytes);
  return Tile({{device_values_.data()}, job.features(), 0, run.n}, job.features());
}

RawView RowStream::Place::LoadArray(RowJob const& job, DenseValues const& values, std::uint64_t first_row,
                                    std::uint64_t rows) {
  constexpr std::size_t kGrain = 1 << 18;  // bytes per task
  std::size_t const row_bytes = job.features() * ValueBytes(values.type), bytes = rows * row_bytes;
  auto const* const from = static_cast<std::uint8_t const*>(values.data) + first_row * row_bytes;
  ArrayPiece piece{values, job.features(), 0, rows};
  if (values.device == kHostMemory) {
    auto* const pinned = Pinned<std::uint8_t>(bytes);
    ParallelChunks(job.threads(), bytes, kGrain,
                   [&](std::size_t begin, std::size_t end) { std::memcpy(pinned + begin, from + begin, end - begin); });
    Upload(bytes);
    piece.values.data = device_values_.data();
  } else if (values.device != device_) {
    Reserve(&device_values_, &arena_, "raw values on their way", bytes);
    CheckCuda(cudaMemcpyPeerAsync(device_values_.data(), device_, from, values.device, bytes, stream_), kPredicting);
    piece.values.data = device_values_.data();
  } else {
    piece.values.data = from;
  }
  return Tile(piece, job.features());
}

RawView RowStream::Place::LoadSparse(RowJob const& job, RowRun const& run) {
  std::size_t const offsets = (run.n + 1) * sizeof(std::uint64_t);
  std::size_t const bytes = offsets + run.values() * sizeof(Entry);
  auto* const pinned = Pinned<std::uint8_t>(bytes);
  PackSparseRows(run, job.features(), 0, reinterpret_cast<std::uint64_t*>(pinned),
                 reinterpret_cast<Entry*>(pinned + offsets), job.threads());
  Upload(bytes);
  std::uint8_t const* const device = device_values_.data();
  return {run.n,
          job.features(),
          false,
          nullptr,
          reinterpret_cast<std::uint64_t const*>(device),
          reinterpret_cast<Entry const*>(device + offsets)};
}

RawView RowStream::Place::LoadEntries(RowJob const& job, RowRun const& run) {
  bool const dense = job.NeedsDense() || RowsAreDense(run.n, job.features(), run.values());
  return dense ? LoadDense(job, run) : LoadSparse(job, run);
}

template <typename Load>
void RowStream::Place::Start(RowJob const& job, std::uint64_t first_row, std::uint64_t rows, Load&& load) {
  first_row_ = first_row;
  rows_ = rows;
  std::size_t const count = rows * job.results();
  if (results_.size() < count) results_ = PinnedBuffer<float>{count};
  Reserve(&device_results_, &arena_, "predictions", count);
  Reserve(&scratch_, &arena_, "sums", job.Scratch(rows));
  RawView const view = load();
  if (job.Fill(first_row_, rows_, results_.data())) {
    CopyToDevice(device_results_.data(), results_.data(), count, stream_, kPredicting);
  }
  job.Enqueue(view, device_results_.data(), scratch_.data(), stream_);
  CopyToHost(results_.data(), device_results_.data(), count, stream_, kPredicting);
}

void RowStream::Place::Finish(RowJob const& job) {
  if (rows_ == 0) return;
  stream_.Wait(kPredicting);
  job.Take(first_row_, rows_, results_.data());
  rows_ = 0;
}

void RowMajorJob::Take(std::uint64_t first_row, std::uint64_t rows, float const* from) const {
  constexpr std::size_t kGrain = 1 << 16;  // values per task
  float* const to = out_ + first_row * results();
  ParallelChunks(threads(), rows * results(), kGrain,
                 [&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to + begin); });
}

RowStream::RowStream() = default;
RowStream::~RowStream() = default;

void RowStream::Run(RowSource const& source, RowJob const& job, Event const* after) {
  for (auto const& place : places_) place->Abandon();  // blocks of a job that threw
  std::size_t const row_floats = std::max({std::size_t{1}, std::size_t{job.features()}, job.results()});
  std::uint64_t const most_rows = std::max<std::uint64_t>(1, job.block_bytes() / (row_floats * sizeof(float)));
  std::uint64_t const most_values = job.NeedsDense() ? UINT64_MAX : job.block_bytes() / sizeof(float);
  std::size_t turn = 0;
  auto const next_place = [&]() -> Place& {
    std::size_t const next = turn++ % kPlaces;
    if (next == places_.size()) places_.push_back(std::make_unique<Place>());
    Place& place = *places_[next];
    place.Finish(job);
    if (after != nullptr) after->HoldUp(place.stream());
    return place;
  };
  auto const finish_all = [&] {
    for (std::size_t i = 0; i < kPlaces; ++i) {
      std::size_t const next = (turn + i) % kPlaces;
      if (next < places_.size()) places_[next]->Finish(job);
    }
  };
  if (source.arrays() && source.features() == job.features()) {
    source.ForEachArray([&](ArrayBatch const& array) {
      for (std::uint64_t row = 0; row < array.rows; row += most_rows) {
        std::uint64_t const n = std::min(most_rows, array.rows - row);
        Place& place = next_place();
        place.Start(job, array.first_row + row, n, [&] { return place.LoadArray(job, array.values, row, n); });
      }
      finish_all();  // an array on a device is read until then
    });
  } else {
    ForEachRun(source, most_rows, most_values, [&](RowRun const& run) {
      Place& place = next_place();
      place.Start(job, run.first_row(), run.n, [&] { return place.LoadEntries(job, run); });
    });
    finish_all();
  }
}

}  // namespace xgbgpu::cuda
