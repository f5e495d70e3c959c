// Copies trees, weights and sets of a forest to a device.
#include <algorithm>

#include "base/message.h"
#include "predict/forest_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kTreesPart = "trees";
constexpr char const* kCopyingTrees = "copying trees to the device";

/// Makes room for `size` elements, of which the first `used` stay, and twice as much in all.
template <typename T>
void Grow(DeviceBuffer<T>* buffer, DeviceArena* arena, std::size_t used, std::size_t size, cudaStream_t stream) {
  if (size > buffer->size()) Enlarge(buffer, arena, kTreesPart, used, std::max(size, 2 * buffer->size()), stream);
}

/// Waits for copies from pageable host memory, which may change afterwards. If a device reads such memory by itself,
/// the copies may be unfinished without a wait.
void EndCopies(cudaStream_t stream) {
  int device = 0, reads_itself = 0;
  CheckCuda(cudaGetDevice(&device), kCopyingTrees);
  CheckCuda(cudaDeviceGetAttribute(&reads_itself, cudaDevAttrPageableMemoryAccessUsesHostPageTables, device),
            kCopyingTrees);
  if (reads_itself != 0) CheckCuda(cudaStreamSynchronize(stream), kCopyingTrees);
}

}  // namespace

void DeviceForest::Append(Forest const& forest, std::size_t first, std::size_t last, cudaStream_t stream) {
  CheckTreeRange(first, last, forest.trees());
  if (first == last) return;
  std::size_t const old_trees = trees_.size();
  std::uint64_t const old_words = words(0, old_trees);
  ForestTree const& end = forest.tree(last - 1);
  std::uint64_t const begin_word = forest.tree(first).first;
  std::uint64_t const new_words = end.first + end.words - begin_word;
  Grow(&device_trees_, arena_, old_trees, old_trees + (last - first), stream);
  Grow(&words_, arena_, old_words, old_words + new_words, stream);
  Grow(&ids_, arena_, old_words, old_words + new_words, stream);
  std::uint64_t const begin_set = forest.first_set(first), new_set_words = forest.first_set(last) - begin_set;
  bool const had_sets = categorical(), has_sets = n_set_words_ + new_set_words != 0;
  if (has_sets) {
    Grow(&set_words_, arena_, n_set_words_, n_set_words_ + new_set_words, stream);
    Grow(&first_sets_, arena_, had_sets ? old_trees : 0, old_trees + (last - first), stream);
  }

  std::vector<ForestTree> added;
  for (std::size_t i = first; i < last; ++i) {
    added.push_back(forest.tree(i));
    added.back().first += old_words - begin_word;
  }
  added.front().kind &= ~ForestTree::kTwin;  // here another tree is before it, or none
  CopyToDevice(device_trees_.data() + old_trees, added.data(), added.size(), stream, kCopyingTrees);
  CopyToDevice(words_.data() + old_words, forest.words(first), new_words, stream, kCopyingTrees);
  CopyToDevice(ids_.data() + old_words, forest.ids(first), new_words, stream, kCopyingTrees);
  if (has_sets) {
    std::vector<std::uint64_t> first_sets;
    for (std::size_t i = first; i < last; ++i) first_sets.push_back(n_set_words_ + forest.first_set(i) - begin_set);
    if (!had_sets && old_trees != 0) FillBytes(first_sets_.data(), 0, old_trees, stream, kCopyingTrees);
    CopyToDevice(first_sets_.data() + old_trees, first_sets.data(), first_sets.size(), stream, kCopyingTrees);
    CopyToDevice(set_words_.data() + n_set_words_, forest.set_words() + begin_set, new_set_words, stream,
                 kCopyingTrees);
    EndCopies(stream);  // before first_sets ends its life
  }
  EndCopies(stream);
  arrived_.Record(stream);
  trees_.insert(trees_.end(), added.begin(), added.end());
  n_set_words_ += new_set_words;
  weighted_ = false;
  features_ = std::max(features_, forest.features());
  outputs_ = std::max(outputs_, forest.outputs());
}

void DeviceForest::SetWeights(Span<float const> weights, cudaStream_t stream) {
  if (weights.size() != trees()) {
    Throw<InvalidArgument>("There are ", weights.size(), " weights for ", trees(), " trees; allowed: one for each");
  }
  if (weights.size() == 0) return;
  Grow(&weights_, arena_, 0, weights.size(), stream);
  CopyToDevice(weights_.data(), weights.data(), weights.size(), stream, kCopyingTrees);
  EndCopies(stream);
  arrived_.Record(stream);
  weighted_ = true;
}

void DeviceForest::Clear() {
  trees_.clear();
  n_set_words_ = 0;
  weighted_ = false;
  features_ = 0;
  outputs_ = 0;
}

}  // namespace xgbgpu::cuda
