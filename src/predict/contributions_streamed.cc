#include <algorithm>
#include <array>
#include <vector>

#include "core/device.h"
#include "core/parallel.h"
#include "core/piece_stream.h"
#include "predict/contributions_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kWhat = "computing contributions of rows of the host";
constexpr char const* kPart = "paths";

/// What a computation with streamed rows is made of.
struct Job {
  DevicePaths const& paths;
  ContributionsView out;  ///< of all rows, on the host
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
  /// Waits for the block that was started, if there is one, and writes its contributions to the host's.
  void Finish(Job const& job);

 private:
  RawView Load(Job const& job, RowRun const& run);

  DeviceArena arena_{"Computing contributions on the GPU"};
  PinnedBuffer<float> values_;
  PinnedBuffer<float> results_;
  DeviceBuffer<float> device_values_;
  DeviceBuffer<float> tiles_;
  DeviceBuffer<double> scratch_;
  DeviceBuffer<float> device_results_;
  std::uint64_t first_row_{0};
  std::uint64_t rows_{0};  ///< of the block on its way
  Stream stream_;
};

void Widen(PinnedBuffer<float>* buffer, std::size_t size) {
  if (buffer->size() < size) *buffer = PinnedBuffer<float>{size};
}

RawView Place::Load(Job const& job, RowRun const& run) {
  FeatureIndex const features = job.out.features;
  std::size_t const count = run.n * features;
  Widen(&values_, count);
  PackDenseRows(run, features, values_.data(), job.threads);
  Reserve(&device_values_, &arena_, "raw values on their way", count);
  CopyToDevice(device_values_.data(), values_.data(), count, stream_, kWhat);
  Reserve(&tiles_, &arena_, "raw values", TiledValues(run.n, features));
  ClearLastTile(run.n, features, tiles_.data(), stream_);
  TileRows(device_values_.data(), run.n, features, 0, tiles_.data(), stream_);
  return {run.n, features, true, tiles_.data(), nullptr, nullptr};
}

void Place::Start(Job const& job, RowRun const& run) {
  std::size_t const count = run.n * job.out.row_size();
  FeatureIndex const tested = job.paths.view().features;
  Widen(&results_, count);
  Reserve(&device_results_, &arena_, "contributions", count);
  Reserve(&scratch_, &arena_, "sums", PlanContributions(run.n, job.out.outputs, tested, job.limits).scratch);
  RawView const view = Load(job, run);
  first_row_ = run.first_row();
  rows_ = run.n;
  ContributionsView const out{device_results_.data(), run.n, job.out.outputs, job.out.features};
  PredictContributions(view, job.paths, out, scratch_.data(), job.limits, stream_);
  CopyToHost(results_.data(), device_results_.data(), count, stream_, kWhat);
}

void Place::Finish(Job const& job) {
  constexpr std::size_t kGrain = 1 << 16;  // values per task
  if (rows_ == 0) return;
  stream_.Wait(kWhat);
  float* const to = job.out.data + first_row_ * job.out.row_size();
  ParallelChunks(job.threads, rows_ * job.out.row_size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::copy(results_.data() + begin, results_.data() + end, to + begin);
  });
  rows_ = 0;
}

/// Both offsets of a selection's lists, trees' first.
std::vector<std::uint64_t> Offsets(PathSelection const& selection) {
  std::vector<std::uint64_t> offsets(selection.tree_ptr.begin(), selection.tree_ptr.end());
  offsets.insert(offsets.end(), selection.chunk_ptr.begin(), selection.chunk_ptr.end());
  return offsets;
}

template <typename T>
DeviceBuffer<T> UploadAll(DeviceArena* arena, std::vector<T> const& from) {
  return Upload(arena, kPart, from.data(), from.size());
}

}  // namespace

DevicePaths::DevicePaths(PathForest const& forest, std::size_t first, std::size_t last, std::uint32_t outputs,
                         bool approximate, DeviceArena* arena)
    : approximate_{approximate}, forest_{arena} {
  PathSelection const selection = SelectPaths(forest, first, last, outputs);
  means_ = UploadAll(arena, selection.means);
  ptr_ = UploadAll(arena, Offsets(selection));
  view_.features = forest.features();
  view_.means = means_.data();
  view_.tree_ptr = ptr_.data();
  view_.chunk_ptr = ptr_.data() + selection.tree_ptr.size();
  if (approximate) {
    CopyNodes(forest, first, last, selection, arena);
  } else {
    CopyPaths(forest, selection, arena);
  }
}

void DevicePaths::CopyPaths(PathForest const& forest, PathSelection const& selection, DeviceArena* arena) {
  elements_ = UploadAll(arena, forest.elements());
  paths_ = UploadAll(arena, forest.paths());
  groups_ = UploadAll(arena, forest.groups());
  chunks_ = UploadAll(arena, selection.chunks);
  view_.elements = elements_.data();
  view_.paths = paths_.data();
  view_.groups = groups_.data();
  view_.chunks = chunks_.data();
}

void DevicePaths::CopyNodes(PathForest const& forest, std::size_t first, std::size_t last,
                            PathSelection const& selection, DeviceArena* arena) {
  if (first == last) return;
  Stream const stream;
  forest_.Append(forest.forest(), first, last, stream);
  stream.Wait(kWhat);
  node_means_ = Upload(arena, kPart, forest.means(first), forest_.words(0, last - first));
  std::vector<std::uint32_t> trees;
  for (std::uint32_t const t : selection.trees) trees.push_back(t - static_cast<std::uint32_t>(first));
  trees_ = UploadAll(arena, trees);
  view_.forest = forest_.view();
  view_.node_means = node_means_.data();
  view_.trees = trees_.data();
}

void PredictContributionsStreamed(RowSource const& source, PathForest const& forest, std::size_t first,
                                  std::size_t last, bool approximate, ContributionsView out, int device, int threads) {
  CheckContributions(out, source, forest);
  CheckTreeRange(first, last, forest.trees());
  DeviceScope const scope{device};
  DeviceArena arena{"Computing contributions on the GPU"};
  DevicePaths const paths{forest, first, last, out.outputs, approximate, &arena};
  Job const job{paths, out, CurrentDeviceLimits(), threads};
  std::array<Place, 3> places;
  // A block's values and its contributions fill a piece each, at most, unless it has one row.
  std::size_t const row_bytes = std::max<std::size_t>(out.features, out.row_size()) * sizeof(float);
  std::uint64_t const most_rows = std::max<std::uint64_t>(1, kPieceBytes / std::max<std::size_t>(1, row_bytes));
  std::size_t turn = 0;
  ForEachRun(source, most_rows, UINT64_MAX, [&](RowRun const& run) {
    Place& place = places[turn++ % places.size()];
    place.Finish(job);
    place.Start(job, run);
  });
  for (std::size_t i = 0; i < places.size(); ++i) places[(turn + i) % places.size()].Finish(job);
}

}  // namespace xgbgpu::cuda
