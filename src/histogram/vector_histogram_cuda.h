/// Stage 6 on a CUDA device for trees of vectors: histograms with the sums of several outputs.
#ifndef XGBGPU_HISTOGRAM_VECTOR_HISTOGRAM_CUDA_H_
#define XGBGPU_HISTOGRAM_VECTOR_HISTOGRAM_CUDA_H_

#include <cstdint>

#include "base/hd.h"
#include "cuda/device.h"
#include "gradient/vector_gradients_cuda.h"
#include "histogram/histogram_cuda.h"

namespace xgbgpu::cuda {

/// Where the sums of a vector are in a slot: numbers of 64-bit words. Hessians that all outputs share are there once.
struct VectorCells {
  std::uint32_t outputs;
  std::uint32_t hessians;        ///< outputs, or 1
  std::uint64_t cell;            ///< from one cell to the next
  std::uint64_t output;          ///< from one output's gradients to the next output's
  std::uint64_t first_hessian;   ///< of the first cell
  std::uint64_t hessian_output;  ///< from one output's hessians to the next output's; 0: all outputs share them

  /// Returns the number of different sums of a cell.
  XGBGPU_HD std::uint32_t sums() const { return outputs + hessians; }
  /// Returns the place of the first cell of a sum: of gradients, then of hessians.
  XGBGPU_HD std::uint64_t first(std::uint32_t sum) const {
    return sum < outputs ? sum * output : first_hessian + (sum - outputs) * hessian_output;
  }
  /// Returns the sum of output `k` in a cell of a slot.
  XGBGPU_HD GradientSum Load(std::int64_t const* sums, std::uint64_t number, std::uint32_t k) const {
    std::uint64_t const at = number * cell;
    return {sums[k * output + at], sums[first_hessian + k * hessian_output + at]};
  }
};

/// Each output has a histogram of pairs, as SumRows makes it, one output after the other.
inline VectorCells PairCells(std::uint64_t cells, std::uint32_t outputs) {
  return {outputs, outputs, 2, 2 * cells, 1, 2 * cells};
}
/// Each sum has its cells side by side.
inline VectorCells PlaneCells(std::uint64_t cells, std::uint32_t outputs, bool one_hessian) {
  return {outputs, one_hessian ? 1 : outputs, 1, cells, outputs * cells, one_hessian ? 0 : cells};
}

/// Returns true if SumVectors takes the matrix. `symbols`: symbols of its largest tile.
bool CanSumVectors(DeviceMatrixView const& matrix, std::uint32_t symbols, DeviceLimits const& limits);

/// Enqueues the histograms of all sum jobs of lists, for all outputs, in PlaneCells. Their slots are zero before. The
/// bins of a row are read once for several outputs. Shared memory holds six sums of each cell of a tile of 32 columns,
/// or twelve of 16.
///
/// Cost  for each row, column and sum one addition in shared memory
void SumVectors(HistogramView const& view, RowLists const& rows, Node const* nodes, NarrowRows const& gradients,
                VectorCells const& cells, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_VECTOR_HISTOGRAM_CUDA_H_
