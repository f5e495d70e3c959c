/// Stage 6 on a CUDA device: sums per bin over all nodes of a level, for rows from the partition stage.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_H_

#include <cstddef>

#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "matrix/device_matrix.h"
#include "partition/partition_cuda.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// The input and output of sums over lists and paths. Arrays are on the device.
struct HistogramView {
  DeviceMatrixView matrix;  ///< with paths over a sample, it has the sample's rows only
  DeviceHistograms histograms;
  LevelState const* state;
  GradientState const* gradient;
};

/// Returns true if a tile's sums fit shared memory, which paths require. (histogram_cuda.cu)
bool SumsFitShared(DeviceMatrixView const& matrix, std::uint32_t symbols, DeviceLimits const& limits);
/// Returns true if sums may be PathSums::kPairs.
bool PairsFitShared(DeviceMatrixView const& matrix, std::uint32_t symbols, DeviceLimits const& limits);

/// Enqueues the histograms of all sum jobs of lists. Their slots are zero before.
void SumRows(HistogramView const& view, RowLists const& rows, Node const* nodes, LevelBounds const& bounds,
             DeviceLimits const& limits, cudaStream_t stream);
/// Enqueues the histograms of all path jobs. With kDivide and kPairs it also divides the rows, by splits with the given
/// categories.
void SumPaths(HistogramView const& view, RowPaths const& rows, DeviceCategories const& categories,
              LevelBounds const& bounds, PathSums sums, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_H_
