// Computes contributions of rows streamed through a device.
#include <vector>

#include "cuda/device.h"
#include "predict/contributions_cuda.h"
#include "predict/row_stream_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kContributing = "computing contributions of rows of the host";
constexpr char const* kPathsPart = "paths";

class ContributionJob final : public RowMajorJob {
 public:
  ContributionJob(DevicePaths const& paths, ContributionsView const& out, int threads)
      : RowMajorJob{out.features, out.row_size(), out.data, threads}, paths_{paths}, out_{out} {}

  std::size_t Scratch(std::uint64_t rows) const override {
    return PlanContributions(rows, out_.outputs, paths_.view().features, limits_).scratch;
  }
  void Enqueue(RawView const& rows, float* results, double* scratch, cudaStream_t stream) const override {
    ContributionsView const out{results, rows.rows, out_.outputs, out_.features};
    PredictContributions(rows, paths_, out, scratch, limits_, stream);
  }

 private:
  DevicePaths const& paths_;
  ContributionsView out_;  ///< of all rows, on the host
  DeviceLimits limits_{CurrentDeviceLimits()};
};

/// Returns both offsets of a selection's lists, the trees' first.
std::vector<std::uint64_t> Offsets(PathSelection const& selection) {
  std::vector<std::uint64_t> offsets(selection.tree_ptr.begin(), selection.tree_ptr.end());
  offsets.insert(offsets.end(), selection.chunk_ptr.begin(), selection.chunk_ptr.end());
  return offsets;
}

template <typename T>
DeviceBuffer<T> UploadAll(DeviceArena* arena, std::vector<T> const& from) {
  return Upload(arena, kPathsPart, from.data(), from.size());
}

}  // namespace

DevicePaths::DevicePaths(PathForest const& forest, std::size_t first, std::size_t last, std::uint32_t outputs,
                         bool approximate, DeviceArena* arena)
    : approximate_{approximate}, categorical_{forest.forest().categorical()}, forest_{arena} {
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
  if (!categorical_) return;
  set_of_element_ = UploadAll(arena, forest.set_of_element());
  set_words_ = UploadAll(arena, forest.set_words());
  view_.sets = {{set_words_.data()}, set_of_element_.data()};
}

void DevicePaths::CopyNodes(PathForest const& forest, std::size_t first, std::size_t last,
                            PathSelection const& selection, DeviceArena* arena) {
  if (first == last) return;
  Stream const stream;
  forest_.Append(forest.forest(), first, last, stream);
  stream.Wait(kContributing);
  categorical_ = forest_.categorical();  // of the selected trees: the other trees' sets are not copied
  node_means_ = Upload(arena, kPathsPart, forest.means(first), forest_.words(0, last - first));
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
  RowStream{}.Run(source, ContributionJob{paths, out, threads});
}

}  // namespace xgbgpu::cuda
