/// The cells of histograms with the sums of several outputs, on a CUDA device.
#ifndef XGBGPU_SPLIT_VECTOR_CELLS_CUH_
#define XGBGPU_SPLIT_VECTOR_CELLS_CUH_

#include <cstdint>

#include "core/search.h"
#include "histogram/vector_histogram_cuda.h"
#include "matrix/device_matrix.h"

namespace xgbgpu::cuda {

/// The sums of one cell and one output, up to the cell.
__device__ inline GradientSum Load(VectorCells const& cells, std::int64_t const* sums, std::uint64_t cell,
                                   std::uint32_t k) {
  std::uint64_t const at = cell * cells.cell;
  return {sums[k * cells.output + at], sums[cells.first_hessian + k * cells.hessian_output + at]};
}

/// The i-th cell of a histogram that a feature has, where there is one: in a dense tile of fewer columns than others,
/// cells are counted without the columns that it lacks.
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

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_VECTOR_CELLS_CUH_
