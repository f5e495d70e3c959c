/// Contributions of features on a CUDA device. CUDA builds only. The contract of the results is in contributions.h.
#ifndef XGBGPU_PREDICT_CONTRIBUTIONS_CUDA_H_
#define XGBGPU_PREDICT_CONTRIBUTIONS_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/device.h"
#include "predict/contributions.h"
#include "predict/forest_cuda.h"
#include "predict/raw_matrix_cuda.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// Selected trees as kernels see them; chunks and trees by output, as in PathSelection.
struct PathsView {
  FeatureIndex features;  ///< 1 + the largest feature that trees test
  float const* means;     ///< [outputs]
  // Members for exact contributions only:
  PathElement const* elements;
  Path const* paths;
  QuadratureGroup const* groups;
  PathChunk const* chunks;
  std::uint64_t const* chunk_ptr;  ///< [outputs + 1]
  ElementSets sets;                ///< if trees split on categories
  // Members for approximate contributions only:
  ForestView forest;
  float const* node_means;  ///< [words of the forest]
  std::uint32_t const* trees;
  std::uint64_t const* tree_ptr;  ///< [outputs + 1]
};

/// Trees first … last - 1 on the device: their paths, or for approximate contributions their nodes with means.
class DevicePaths {
 public:
  /// Copies the trees, and waits. `arena` must outlive this.
  /// Throws  InvalidArgument (range of trees), OutOfDeviceMemory
  DevicePaths(PathForest const& forest, std::size_t first, std::size_t last, std::uint32_t outputs, bool approximate,
              DeviceArena* arena);

  PathsView const& view() const { return view_; }
  bool approximate() const { return approximate_; }
  /// Does a tree that is here split on categories? With exact contributions: does any tree of the forest?
  bool categorical() const { return categorical_; }

 private:
  void CopyPaths(PathForest const& forest, PathSelection const& selection, DeviceArena* arena);
  void CopyNodes(PathForest const& forest, std::size_t first, std::size_t last, PathSelection const& selection,
                 DeviceArena* arena);

  bool approximate_;
  bool categorical_;
  PathsView view_{};
  DeviceForest forest_;
  DeviceBuffer<float> means_;
  DeviceBuffer<PathElement> elements_;
  DeviceBuffer<std::uint64_t> set_of_element_;
  DeviceBuffer<std::uint32_t> set_words_;
  DeviceBuffer<Path> paths_;
  DeviceBuffer<QuadratureGroup> groups_;
  DeviceBuffer<PathChunk> chunks_;
  DeviceBuffer<float> node_means_;
  DeviceBuffer<std::uint32_t> trees_;
  DeviceBuffer<std::uint64_t> ptr_;
};

/// How a launch divides rows and memory.
struct ContributionPlan {
  unsigned block_rows;
  std::size_t bytes;    ///< shared memory of a block
  std::size_t scratch;  ///< doubles in device memory, where sums of the rows do not fit shared memory; else 0
};

/// Plans a launch for so many rows; `tested` features have sums.
ContributionPlan PlanContributions(std::uint64_t rows, std::uint32_t outputs, FeatureIndex tested,
                                   DeviceLimits const& limits);

/// Writes contributions of dense rows; `out` and `scratch` [plan.scratch] are on the device. Enqueues one kernel, of
/// one thread for each row and output. Rows have all features that trees test.
void PredictContributions(RawView const& tiles, DevicePaths const& paths, ContributionsView const& out, double* scratch,
                          DeviceLimits const& limits, cudaStream_t stream);

/// Does what host::PredictContributions does: `out` is on the host, and rows are streamed through the device in blocks
/// (row_stream_cuda.h). Waits.
///
/// Throws  InvalidArgument (as the host), OutOfDeviceMemory. Contributions of some rows may then be there already.
void PredictContributionsStreamed(RowSource const& source, PathForest const& forest, std::size_t first,
                                  std::size_t last, bool approximate, ContributionsView out, int device, int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_CONTRIBUTIONS_CUDA_H_
