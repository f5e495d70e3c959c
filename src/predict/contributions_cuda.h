/// Contributions of features on a CUDA device. CUDA builds only. contributions.h defines the results.
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

/// A view of selected trees for kernels. Chunks and trees are ordered by output, as in PathSelection.
struct PathsView {
  FeatureIndex features;  ///< 1 + the largest tested feature
  float const* means;     ///< [outputs]
  // Members for exact contributions only:
  PathElement const* elements;
  Path const* paths;
  QuadratureGroup const* groups;
  PathChunk const* chunks;
  std::uint64_t const* chunk_ptr;  ///< [outputs + 1]
  ElementSets sets;                ///< with splits by categories
  // Members for approximate contributions only:
  ForestView forest;
  float const* node_means;  ///< [words of the forest]
  std::uint32_t const* trees;
  std::uint64_t const* tree_ptr;  ///< [outputs + 1]
};

/// Trees first … last - 1 on the device: their paths, or for approximate contributions their nodes with means.
class DevicePaths {
 public:
  /// Copies the trees, and waits. `arena` must outlive this object.
  /// Throws  InvalidArgument (range of trees), OutOfDeviceMemory
  DevicePaths(PathForest const& forest, std::size_t first, std::size_t last, std::uint32_t outputs, bool approximate,
              DeviceArena* arena);

  PathsView const& view() const { return view_; }
  bool approximate() const { return approximate_; }
  /// Returns true if a tree on the device splits by categories; with exact contributions, if any tree of the forest
  /// does.
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

/// The division of rows and memory in a launch.
struct ContributionPlan {
  unsigned block_rows;
  std::size_t bytes;    ///< shared memory of a block
  std::size_t scratch;  ///< doubles in device memory, if the rows' sums do not fit shared memory; otherwise 0
};

/// Plans a launch for `rows` rows. `tested` features have sums.
ContributionPlan PlanContributions(std::uint64_t rows, std::uint32_t outputs, FeatureIndex tested,
                                   DeviceLimits const& limits);

/// Writes contributions of dense rows. `out` and `scratch` [plan.scratch] are on the device. Enqueues one kernel with
/// one thread for each row and output. Rows have all tested features.
void PredictContributions(RawView const& tiles, DevicePaths const& paths, ContributionsView const& out, double* scratch,
                          DeviceLimits const& limits, cudaStream_t stream);

/// host::PredictContributions with rows streamed through the device in blocks (row_stream_cuda.h). `out` is on the
/// host. Waits.
///
/// Throws  InvalidArgument (as the host), OutOfDeviceMemory. The contributions of some rows may be written then.
void PredictContributionsStreamed(RowSource const& source, PathForest const& forest, std::size_t first,
                                  std::size_t last, bool approximate, ContributionsView out, int device, int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_CONTRIBUTIONS_CUDA_H_
