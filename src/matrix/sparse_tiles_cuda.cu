// Divides the cells of sparse rows among tiles on a device.
#include <cub/device/device_scan.cuh>

#include "cuda/grid.h"
#include "matrix/matrix_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

/// Calls visit(tile, cell) for the ascending cells of a row, and tile_end(tile) after the last cell of each tile.
template <typename Visit, typename TileEnd>
__device__ void ForEachCellOfRow(DeviceMatrixView const& m, std::uint32_t const* cells, std::uint64_t begin,
                                 std::uint64_t end, Visit&& visit, TileEnd&& tile_end) {
  std::uint64_t i = begin;
  for (std::uint32_t t = 0; t < m.tiles; ++t) {
    std::uint64_t const limit = m.tile[t].first_cell + m.tile[t].bins;
    for (; i < end && cells[i] < limit; ++i) visit(t, cells[i]);
    tile_end(t);
  }
}

/// Counts the cells of each row in each tile: counts[tile, row], and a 0 after the last.
__global__ void __launch_bounds__(kThreads) CountCellsKernel(DeviceMatrixView m, std::uint32_t const* cells,
                                                             std::uint64_t const* row_ptr, std::uint32_t* counts) {
  for (std::uint64_t row = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; row < m.rows;
       row += std::uint64_t{gridDim.x} * kThreads) {
    std::uint32_t count = 0;
    ForEachCellOfRow(
        m, cells, row_ptr[row], row_ptr[row + 1], [&](std::uint32_t, std::uint32_t) { ++count; },
        [&](std::uint32_t t) {
          counts[t * m.rows + row] = count;
          count = 0;
        });
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) counts[m.tiles * m.rows] = 0;
}

__global__ void __launch_bounds__(kThreads) DealCellsKernel(DeviceMatrixView m, std::uint32_t const* cells,
                                                            std::uint64_t const* row_ptr, std::uint16_t* tile_cells) {
  for (std::uint64_t row = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; row < m.rows;
       row += std::uint64_t{gridDim.x} * kThreads) {
    std::uint32_t to = m.tile_ptr[row];
    ForEachCellOfRow(
        m, cells, row_ptr[row], row_ptr[row + 1],
        [&](std::uint32_t t, std::uint32_t cell) {
          tile_cells[to++] = static_cast<std::uint16_t>(cell - m.tile[t].first_cell);
        },
        [&](std::uint32_t t) { to = t + 1 < m.tiles ? m.tile_ptr[(t + 1) * m.rows + row] : 0; });
  }
}

constexpr char const* kWhat = "dealing cells to tiles";

void DealToTiles(DeviceMatrix* matrix, DeviceBuffer<std::uint32_t> const& cells,
                 DeviceBuffer<std::uint64_t> const& row_ptr) {
  DeviceMatrixView& view = matrix->view;
  DeviceArena* const arena = &matrix->arena;
  Stream const stream;
  std::uint64_t const places = view.tiles * view.rows + 1;
  matrix->tile_array = Upload(arena, "tiles", matrix->tiles.data(), matrix->tiles.size());
  matrix->tile_ptr = {arena, "rows", places};
  matrix->tile_cells = {arena, "bins", cells.size()};
  view.tile = matrix->tile_array.data();
  view.tile_ptr = matrix->tile_ptr.data();
  view.tile_cells = matrix->tile_cells.data();
  std::size_t bytes = 0;
  auto const sum = [&](void* scratch) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, matrix->tile_ptr.data(), places,
                                         static_cast<cudaStream_t>(stream));
  };
  CheckCuda(sum(nullptr), kWhat);
  DeviceBuffer<std::uint8_t> const scratch{arena, "sums of rows", bytes};
  unsigned const blocks = Blocks(view.rows, kThreads, CurrentDeviceLimits(), kResident);
  CountCellsKernel<<<blocks, kThreads, 0, stream>>>(view, cells.data(), row_ptr.data(), matrix->tile_ptr.data());
  CheckLaunch(kWhat);
  CheckCuda(sum(scratch.data()), kWhat);
  DealCellsKernel<<<blocks, kThreads, 0, stream>>>(view, cells.data(), row_ptr.data(), matrix->tile_cells.data());
  CheckLaunch(kWhat);
  stream.Wait(kWhat);
}

void BecomeCsr(DeviceMatrix* matrix) {
  DeviceMatrixView& view = matrix->view;
  view.symbol_bytes = 4;
  view.tiles = 1;
  view.tile = nullptr;
  view.tile_ptr = nullptr;
  view.tile_cells = nullptr;
  matrix->tiles.clear();
  matrix->tile_array = {};
  matrix->tile_ptr = {};
  matrix->tile_cells = {};
}

}  // namespace

void KeepSparseRows(DeviceMatrix* matrix, DeviceBuffer<std::uint32_t> cells, DeviceBuffer<std::uint64_t> row_ptr) {
  if (matrix->view.sparse_in_tiles()) {
    try {
      DealToTiles(matrix, cells, row_ptr);
      return;
    } catch (OutOfDeviceMemory const&) {  // no kernel has started
      BecomeCsr(matrix);
      if (matrix->mostly_stored) throw;
    }
  }
  matrix->row_cells = std::move(cells);
  matrix->row_ptr = std::move(row_ptr);
  matrix->view.row_cells = matrix->row_cells.data();
  matrix->view.row_ptr = matrix->row_ptr.data();
}

}  // namespace xgbgpu::cuda
