/// Forests on raw feature values on a CUDA device. CUDA builds only. forest.h defines the results.
#ifndef XGBGPU_PREDICT_FOREST_CUDA_H_
#define XGBGPU_PREDICT_FOREST_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.h"
#include "predict/forest.h"
#include "predict/raw_matrix_cuda.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

class RowStream;

/// A view of a forest for kernels.
struct ForestView {
  ForestTree const* trees;
  ForestWord const* words;
  NodeIndex const* ids;  ///< [words], as Forest::ids
  float const* weights;  ///< [trees], as Forest::weights; null if all are 1
  // Sets of trees with splits by categories; null if there are none.
  std::uint64_t const* first_sets;  ///< [trees] offset of the tree's sets
  std::uint32_t const* set_words;

  /// Returns the sets of a tree, as PackedSets or NoSets.
  template <typename Sets>
  XGBGPU_HD Sets SetsOf(std::uint32_t tree) const {
    if constexpr (Sets::kSome) {
      return {set_words + first_sets[tree]};
    } else {
      return {};
    }
  }
};

/// Trees on the device that is current at construction. Not thread-safe.
class DeviceForest {
 public:
  /// `arena` must outlive the forest.
  explicit DeviceForest(DeviceArena* arena) : arena_{arena} {}

  /// Enqueues the copy of trees first … last - 1, which are appended to this forest. All trees then have the weight 1
  /// until SetWeights is called. Waits for the stream if the arrays have to grow (to twice their size), or if the
  /// device reads pageable memory by itself. The caller orders predictions on other streams, except streamed ones,
  /// after this call, and this call after predictions on other streams.
  ///
  /// Throws  InvalidArgument (range), OutOfDeviceMemory; the forest is unchanged then
  void Append(Forest const& forest, std::size_t first, std::size_t last, cudaStream_t stream);
  /// Enqueues the copy of weights (forest.h), one for each tree, in their order. Ordered like Append.
  /// Throws  InvalidArgument (another number of weights than trees), OutOfDeviceMemory; the forest is unchanged then
  void SetWeights(Span<float const> weights, cudaStream_t stream);
  /// Drops all trees, and keeps the memory.
  void Clear();

  std::size_t trees() const { return trees_.size(); }
  FeatureIndex features() const { return features_; }
  std::uint32_t outputs() const { return outputs_; }
  /// Returns the number of words of trees first … last - 1, which are contiguous.
  std::uint64_t words(std::size_t first, std::size_t last) const {
    return first == last ? 0 : trees_[last - 1].first + trees_[last - 1].words - trees_[first].first;
  }
  std::size_t bytes() const {
    return device_trees_.bytes() + words_.bytes() + ids_.bytes() + weights_.bytes() + first_sets_.bytes() +
           set_words_.bytes();
  }
  /// Returns true if a tree splits by categories.
  bool categorical() const { return n_set_words_ != 0; }
  ForestView view() const {
    return {device_trees_.data(),
            words_.data(),
            ids_.data(),
            weighted_ ? weights_.data() : nullptr,
            categorical() ? first_sets_.data() : nullptr,
            categorical() ? set_words_.data() : nullptr};
  }
  /// Returns the event after the arrival of all trees.
  Event const& arrived() const { return arrived_; }

 private:
  DeviceArena* arena_;
  std::vector<ForestTree> trees_;  ///< equal to the device's
  FeatureIndex features_{0};
  std::uint32_t outputs_{0};
  DeviceBuffer<ForestTree> device_trees_;
  DeviceBuffer<ForestWord> words_;
  DeviceBuffer<NodeIndex> ids_;
  DeviceBuffer<float> weights_;
  DeviceBuffer<std::uint64_t> first_sets_;  ///< [trees] if there are sets
  DeviceBuffer<std::uint32_t> set_words_;
  std::uint64_t n_set_words_{0};  ///< used words of sets
  bool weighted_{false};
  Event arrived_;
};

/// host::PredictMargins with margins on the device. Enqueues one kernel.
///
/// Cost    values read once if a block's rows fit shared memory; trees read from L2 once a block (forest_policy.h)
/// Throws  InvalidArgument (range of trees, shape of the margins)
void PredictMargins(RawView const& matrix, DeviceForest const& forest, std::size_t first_tree, std::size_t last_tree,
                    OutputView<float> margins, DeviceLimits const& limits, cudaStream_t stream);
inline void PredictMargins(RawMatrix const& matrix, DeviceForest const& forest, std::size_t first_tree,
                           std::size_t last_tree, OutputView<float> margins, DeviceLimits const& limits,
                           cudaStream_t stream) {
  PredictMargins(matrix.view(), forest, first_tree, last_tree, margins, limits, stream);
}

/// host::PredictLeaves with `out` on the device. Enqueues one kernel.
void PredictLeaves(RawView const& matrix, DeviceForest const& forest, std::size_t first_tree, std::size_t last_tree,
                   float* out, DeviceLimits const& limits, cudaStream_t stream);
inline void PredictLeaves(RawMatrix const& matrix, DeviceForest const& forest, std::size_t first_tree,
                          std::size_t last_tree, float* out, DeviceLimits const& limits, cudaStream_t stream) {
  PredictLeaves(matrix.view(), forest, first_tree, last_tree, out, limits, stream);
}

/// host::PredictMargins with margins on the host, and rows streamed through the device in blocks (row_stream_cuda.h).
/// `rows` is the device's stream of rows; nullptr: the call makes one. Waits.
///
/// Throws  InvalidArgument (range of trees, shape of the margins, a feature beyond source.features()),
///         OutOfDeviceMemory. The margins of some rows may be final then, and the margins of all other rows unchanged.
void PredictMarginsStreamed(RowSource const& source, DeviceForest const* forest, std::size_t first_tree,
                            std::size_t last_tree, OutputView<float> margins, int device, int threads,
                            RowStream* rows = nullptr);
/// host::PredictLeaves with rows streamed in the same way. `out` is on the host. Blocks have fewer rows if there are
/// many trees.
void PredictLeavesStreamed(RowSource const& source, DeviceForest const* forest, std::size_t first_tree,
                           std::size_t last_tree, float* out, int device, int threads, RowStream* rows = nullptr);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_FOREST_CUDA_H_
