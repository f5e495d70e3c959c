/// Tuning numbers of layouts on a device.
#ifndef XGBGPU_MATRIX_DEVICE_MATRIX_POLICY_H_
#define XGBGPU_MATRIX_DEVICE_MATRIX_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct DeviceMatrixPolicy {
  /// Most rows: kernels look a little beyond the last row without a wrap of its 32-bit number.
  std::uint64_t most_rows{(std::uint64_t{1} << 32) - (1 << 15)};
  /// Least values of a row in each tile from which data are sparse in tiles. Without tiles a value costs an addition in
  /// L2, which is slow where additions meet in few cells. With tiles each row costs two sectors in each tile: one for
  /// the offset of its cells, one for the cells.
  double least_row_cells{2};
  /// The same limit for dense data that are stored sparsely because of their many bins. Additions in L2 are equally
  /// many, and tiles take less than half of the time even for one value.
  double least_dense_row_cells{1};
  /// A record of a tile is one sector, the least fetch of the memory system.
  std::uint32_t record_bytes{32};
  /// Least columns of a tile, so that narrow data do not waste the sector.
  std::uint32_t least_columns{8};
  /// Shared memory for the sums of one tile: 256 bins × 32 columns × 2 sums × 4 bytes fill it exactly. A block of 16
  /// warps then fits a multiprocessor of architectures 80 to 89 and 120, a block of 32 warps a multiprocessor of 80, 90
  /// and 100.
  std::size_t tile_bytes{64 << 10};
  /// Staging and queues of 16 warps beside the sums: 32 records of 32 bytes and 1,088 bytes each. With the system's 1
  /// KB two such blocks fill 196 KB, a size of shared memory on architecture 90; the next size is 228 KB. With 16 bytes
  /// more trees in lanes were 7 % slower (docs/adr/0006-cuda-kernels.md).
  std::size_t other_bytes{33 << 10};
};

/// Returns the bytes of shared sums of a pass over `columns` columns of `symbols` symbols in the wide format. A cell
/// has four 32-bit words there, so a pass takes half of a record's columns, but at least one word of it.
constexpr std::size_t WideTileBytes(std::uint32_t symbols, std::uint32_t columns, std::uint32_t symbol_bytes) {
  std::uint32_t const half = columns * symbol_bytes > 4 ? columns / 2 : columns;
  return std::size_t{symbols} * half * 16;
}

/// Returns the words from the gradient sums of a sparse tile to its hessian sums: neighbouring lanes that read a cell's
/// two sums hit different banks.
constexpr std::uint32_t SparsePlane(std::uint32_t cells) { return (cells + 15) / 32 * 32 + 16; }

constexpr std::uint32_t kMostTileCells = 1U << 16;  ///< of a sparse tile: cells have numbers of 16 bits

/// Returns the most cells of a sparse tile with `bytes` of shared memory for two words each.
constexpr std::uint32_t MostSparseCells(std::size_t bytes) {
  auto const whole = static_cast<std::uint32_t>(bytes / (32 * 2 * sizeof(std::uint32_t)) * 32);
  return whole < 32 ? 0 : whole - 16 < kMostTileCells ? whole - 16 : kMostTileCells;
}

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_DEVICE_MATRIX_POLICY_H_
