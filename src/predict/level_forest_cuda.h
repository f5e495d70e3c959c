/// Forests of symmetric trees on raw feature values on a CUDA device. CUDA builds only. forest.h defines the results.
#ifndef XGBGPU_PREDICT_LEVEL_FOREST_CUDA_H_
#define XGBGPU_PREDICT_LEVEL_FOREST_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.h"
#include "predict/level_forest.h"
#include "predict/raw_matrix_cuda.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

class RowStream;

/// A view of a forest of symmetric trees for kernels.
struct LevelForestView {
  LevelTree const* trees;
  LevelTest const* tests;
  float const* leaves;
  FeatureIndex const* columns;    ///< as LevelForest::columns
  std::int32_t const* column_of;  ///< [features], as LevelForest::column_of
  FeatureIndex features;
  std::uint32_t const* set_words;  ///< null if no tree splits by categories
};

/// Symmetric trees on the device that is current at construction. Immutable.
class DeviceLevelForest {
 public:
  /// `arena` must outlive the forest. Waits. Throws OutOfDeviceMemory.
  DeviceLevelForest(LevelForest const& forest, DeviceArena* arena);

  std::size_t trees() const { return trees_.size(); }
  std::uint32_t outputs() const { return outputs_; }
  std::size_t columns() const { return columns_.size(); }
  /// Returns the number of 8-byte words of the tests and leaves of trees first … last - 1.
  std::uint64_t words(std::size_t first, std::size_t last) const;
  LevelForestView view() const {
    return {device_trees_.data(), tests_.data(),     leaves_.data(),
            columns_.data(),      column_of_.data(), static_cast<FeatureIndex>(column_of_.size()),
            set_words_.data()};
  }

 private:
  std::vector<LevelTree> trees_;
  std::uint32_t outputs_;
  DeviceBuffer<LevelTree> device_trees_;
  DeviceBuffer<LevelTest> tests_;
  DeviceBuffer<float> leaves_;
  DeviceBuffer<FeatureIndex> columns_;
  DeviceBuffer<std::int32_t> column_of_;
  DeviceBuffer<std::uint32_t> set_words_;
};

/// host::PredictMargins with margins on the device. Enqueues one kernel.
///
/// Cost    values of tested columns are read once, if a block's rows fit shared memory; tests and leaves are read from
///         L2 once a block, and leaves of trees of 12 or more levels once for each row
/// Throws  InvalidArgument (range of trees, shape of the margins)
void PredictMargins(RawView const& matrix, DeviceLevelForest const& forest, std::size_t first_tree,
                    std::size_t last_tree, OutputView<float> margins, DeviceLimits const& limits, cudaStream_t stream);

/// PredictMarginsStreamed of forest_cuda.h for symmetric trees.
void PredictMarginsStreamed(RowSource const& source, DeviceLevelForest const* forest, std::size_t first_tree,
                            std::size_t last_tree, OutputView<float> margins, int device, int threads,
                            RowStream* rows = nullptr);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_LEVEL_FOREST_CUDA_H_
