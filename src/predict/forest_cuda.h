/// Forests on raw feature values on a CUDA device. CUDA builds only. The contract of the results is in forest.h.
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

/// A forest as kernels see it.
struct ForestView {
  ForestTree const* trees;
  ForestWord const* words;
  NodeIndex const* ids;  ///< [words], as Forest::ids
  float const* weights;  ///< [trees], as Forest::weights; null if all are 1
  // Sets of trees that split on categories; null if none does.
  std::uint64_t const* first_sets;  ///< [trees] where the sets of a tree begin
  std::uint32_t const* set_words;

  /// The sets of a tree, as PackedSets or NoSets.
  template <typename Sets>
  XGBGPU_HD Sets SetsOf(std::uint32_t tree) const {
    if constexpr (Sets::kSome) {
      return {set_words + first_sets[tree]};
    } else {
      return {};
    }
  }
};

/// Trees on the device that is current when this is made. Not thread-safe.
class DeviceForest {
 public:
  /// `arena` outlives the forest.
  explicit DeviceForest(DeviceArena* arena) : arena_{arena} {}

  /// Enqueues the copy of trees first … last - 1, which become trees trees() … of this forest; all have the weight
  /// 1 then, until SetWeights is called. Where the arrays have to grow (to twice their size), and where the device
  /// reads pageable memory by itself, it waits for the stream. A prediction on another stream, other than a streamed
  /// one, must be ordered after this by the caller; so must this after predictions on other streams.
  ///
  /// Throws  InvalidArgument (range), OutOfDeviceMemory; the forest is then as before
  void Append(Forest const& forest, std::size_t first, std::size_t last, cudaStream_t stream);
  /// Enqueues the copy of weights (forest.h), one for each tree, in their order. Ordered as Append.
  /// Throws  InvalidArgument (more or fewer weights than trees), OutOfDeviceMemory; the forest is then as before
  void SetWeights(Span<float const> weights, cudaStream_t stream);
  /// Drops all trees; the memory is kept.
  void Clear();

  std::size_t trees() const { return trees_.size(); }
  FeatureIndex features() const { return features_; }
  std::uint32_t outputs() const { return outputs_; }
  /// Number of words of trees first … last - 1, which lie one after the other.
  std::uint64_t words(std::size_t first, std::size_t last) const {
    return first == last ? 0 : trees_[last - 1].first + trees_[last - 1].words - trees_[first].first;
  }
  std::size_t bytes() const {
    return device_trees_.bytes() + words_.bytes() + ids_.bytes() + weights_.bytes() + first_sets_.bytes() +
           set_words_.bytes();
  }
  /// Does any tree split on categories?
  bool categorical() const { return n_set_words_ != 0; }
  ForestView view() const {
    return {device_trees_.data(),
            words_.data(),
            ids_.data(),
            weighted_ ? weights_.data() : nullptr,
            categorical() ? first_sets_.data() : nullptr,
            categorical() ? set_words_.data() : nullptr};
  }
  /// The event that happens when all trees have arrived.
  Event const& arrived() const { return arrived_; }

 private:
  DeviceArena* arena_;
  std::vector<ForestTree> trees_;  ///< as on the device
  FeatureIndex features_{0};
  std::uint32_t outputs_{0};
  DeviceBuffer<ForestTree> device_trees_;
  DeviceBuffer<ForestWord> words_;
  DeviceBuffer<NodeIndex> ids_;
  DeviceBuffer<float> weights_;
  DeviceBuffer<std::uint64_t> first_sets_;  ///< [trees], once there are sets
  DeviceBuffer<std::uint32_t> set_words_;
  std::uint64_t n_set_words_{0};  ///< words of sets in use
  bool weighted_{false};
  Event arrived_;
};

/// Does what host::PredictMargins does; margins are on the device. Enqueues one kernel.
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

/// Does what host::PredictLeaves does; `out` is on the device. Enqueues one kernel.
void PredictLeaves(RawView const& matrix, DeviceForest const& forest, std::size_t first_tree, std::size_t last_tree,
                   float* out, DeviceLimits const& limits, cudaStream_t stream);
inline void PredictLeaves(RawMatrix const& matrix, DeviceForest const& forest, std::size_t first_tree,
                          std::size_t last_tree, float* out, DeviceLimits const& limits, cudaStream_t stream) {
  PredictLeaves(matrix.view(), forest, first_tree, last_tree, out, limits, stream);
}

/// Does what host::PredictMargins does: margins are on the host, and rows are streamed through the device in blocks
/// (row_stream_cuda.h). Waits.
///
/// Throws  InvalidArgument (range of trees, shape of the margins, a feature beyond source.features()),
///         OutOfDeviceMemory. Margins of some rows may then be final and those of others as before.
/// `rows`: the stream of that device that rows go through; nullptr: one is made for this call.
void PredictMarginsStreamed(RowSource const& source, DeviceForest const* forest, std::size_t first_tree,
                            std::size_t last_tree, OutputView<float> margins, int device, int threads,
                            RowStream* rows = nullptr);
/// Does what host::PredictLeaves does, with rows streamed in the same way; `out` is on the host. Blocks have fewer
/// rows, if there are many trees.
void PredictLeavesStreamed(RowSource const& source, DeviceForest const* forest, std::size_t first_tree,
                           std::size_t last_tree, float* out, int device, int threads, RowStream* rows = nullptr);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_FOREST_CUDA_H_
