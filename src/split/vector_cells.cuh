/// The cells of histograms with the sums of several outputs, on a CUDA device.
#ifndef XGBGPU_SPLIT_VECTOR_CELLS_CUH_
#define XGBGPU_SPLIT_VECTOR_CELLS_CUH_

#include <cstdint>

#include "core/search.h"
#include "cuda/grid.h"
#include "histogram/vector_histogram_cuda.h"
#include "matrix/device_matrix.h"

namespace xgbgpu::cuda {

/// Cell i of a histogram, if it exists: a feature may have fewer bins. In a dense tile with fewer columns than others,
/// i does not count cells of absent columns.
struct CellPlace {
  FeatureIndex feature;
  BinIndex bin;
  bool exists;
  std::uint64_t cell;

  __device__ CellPlace(DeviceMatrixView const& m, std::uint64_t i) : cell{i} {
    if (m.dense) {
      std::uint32_t const t = RangeOf(m.tiles, i, [&](std::uint32_t n) { return m.tile[n].first_cell; });
      std::uint32_t const columns = min(m.tile_columns, m.features - t * m.tile_columns);
      auto const of_tile = static_cast<std::uint32_t>(i - m.tile[t].first_cell);
      bin = of_tile / columns;
      std::uint32_t const column = of_tile - bin * columns;
      feature = t * m.tile_columns + column;
      cell = m.tile[t].first_cell + std::uint64_t{bin} * m.tile_columns + column;
    } else {
      feature = RangeOf(m.features, static_cast<BinIndex>(i), [&](std::uint32_t f) { return m.cut_ptr[f]; });
      bin = static_cast<BinIndex>(i) - m.cut_ptr[feature];
    }
    exists = bin < m.bins(feature);
  }
};

/// The sums of one feature's bins in a node's histogram. A cell is the sum over the bins up to its own.
struct VectorBins {
  VectorCells const& cells;
  std::int64_t const* sums;
  std::uint64_t first, stride;
  BinIndex n;

  __device__ VectorBins(DeviceMatrixView const& m, VectorCells const& c, std::int64_t const* histogram, FeatureIndex f)
      : cells{c}, sums{histogram}, first{m.first_cell(f)}, stride{m.cell_stride()}, n{m.bins(f)} {}

  /// Returns the sum of the bins up to `bin`.
  __device__ GradientSum UpTo(BinIndex bin, std::uint32_t k) const { return cells.Load(sums, first + bin * stride, k); }
  /// Returns the sum of a bin.
  __device__ GradientSum At(BinIndex bin, std::uint32_t k) const {
    GradientSum sum = UpTo(bin, k);
    if (bin != 0) sum -= UpTo(bin - 1, k);
    return sum;
  }
  /// Returns the sum of all bins. There is a bin.
  __device__ GradientSum Present(std::uint32_t k) const { return UpTo(n - 1, k); }
  /// Returns the sum of the bins in a set. A warp calls it.
  __device__ GradientSum In(std::uint32_t const* set, std::uint32_t k) const {
    GradientSum sum;
    for (BinIndex b = threadIdx.x % 32; b < n; b += 32) {
      if (((set[b / 32] >> (b % 32)) & 1U) != 0) sum += At(b, k);
    }
    return {WarpSum(sum.grad), WarpSum(sum.hess)};
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_VECTOR_CELLS_CUH_
