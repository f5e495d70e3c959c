/// Stage 6 on a CUDA device: sums of all nodes of a level, of rows that partition hands over.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_H_

#include <cstddef>

#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "matrix/device_matrix.h"
#include "partition/partition_cuda.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// What sums are made of and where they go, whichever rows are summed. Arrays are on the device.
struct HistogramView {
  DeviceMatrixView matrix;  ///< where rows go by paths and are sampled, it has the rows of the sample only
  DeviceHistograms histograms;
  LevelState const* state;
  GradientState const* gradient;
};

/// Are a tile's sums made in shared memory? Paths need that. (histogram_cuda.cu)
bool SumsFitShared(DeviceMatrixView const& matrix, std::uint32_t symbols, DeviceLimits const& limits);
/// May sums be PathSums::kPairs?
bool PairsFitShared(DeviceMatrixView const& matrix, std::uint32_t symbols, DeviceLimits const& limits);

/// Enqueues the histograms of all sum jobs of lists; their slots are zero before.
void SumRows(HistogramView const& view, RowLists const& rows, Node const* nodes, LevelBounds const& bounds,
             DeviceLimits const& limits, cudaStream_t stream);
/// Enqueues the histograms of all path jobs. With kDivide and kPairs rows are divided on the way, by splits with these
/// categories.
void SumPaths(HistogramView const& view, RowPaths const& rows, DeviceCategories const& categories,
              LevelBounds const& bounds, PathSums sums, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_H_
