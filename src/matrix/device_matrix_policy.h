/// The numbers that decide which data get which layout on a device.
#ifndef XGBGPU_MATRIX_DEVICE_MATRIX_POLICY_H_
#define XGBGPU_MATRIX_DEVICE_MATRIX_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct DeviceMatrixPolicy {
  /// Rows at most: kernels look a little beyond the last row without a wrap of its 32-bit number.
  std::uint64_t most_rows{(std::uint64_t{1} << 32) - (1 << 15)};
  /// Data are sparse in tiles from so many values of a row in each tile on. Without tiles a value costs an addition in
  /// L2, and these are slow where they meet in few cells. With them each row costs two sectors in each tile: one tells
  /// where its cells begin, one holds the cells.
  double least_row_cells{2};
  /// The limit like least_row_cells for dense data that are stored sparsely because their bins are too many. The
  /// additions in L2 are as many, and tiles take less than half of the time even for one value.
  double least_dense_row_cells{1};
  /// A record of a tile is one sector, the least that the memory system fetches.
  std::uint32_t record_bytes{32};
  /// A tile has so many columns at least, so that narrow data do not waste the sector.
  std::uint32_t least_columns{8};
  /// Shared memory for the sums of one tile: 256 bins × 32 columns × 2 sums × 4 bytes fill it exactly. A block of 16
  /// warps then fits a multiprocessor of architectures 80 to 89 and 120, one of 32 those of 80, 90 and 100.
  std::size_t tile_bytes{64 << 10};
  /// Staging and queues of 16 warps beside the sums: 32 records of 32 bytes and 1,088 bytes each. With the 1 KB that
  /// the system takes two such blocks fill 196 KB, one of the sizes that architecture 90 sets aside for shared memory;
  /// the next is 228. With 16 bytes more trees in lanes were 7 % slower (docs/adr/0006-cuda-kernels.md).
  std::size_t other_bytes{33 << 10};
};

/// Bytes of shared sums that a pass over `columns` columns of `symbols` symbols takes in the wide format, which has
/// four 32-bit words per cell and therefore takes half of a record's columns at a time, at least one word of it.
constexpr std::size_t WideTileBytes(std::uint32_t symbols, std::uint32_t columns, std::uint32_t symbol_bytes) {
  std::uint32_t const half = columns * symbol_bytes > 4 ? columns / 2 : columns;
  return std::size_t{symbols} * half * 16;
}

/// Words from the sums of gradients of a sparse tile to those of hessians: neighbouring lanes that read a cell's two
/// sums hit different banks.
constexpr std::uint32_t SparsePlane(std::uint32_t cells) { return (cells + 15) / 32 * 32 + 16; }

constexpr std::uint32_t kMostTileCells = 1U << 16;  ///< of a sparse tile: they are numbered by 16 bits

/// Cells of a sparse tile at most, with `bytes` of shared memory for two words each.
constexpr std::uint32_t MostSparseCells(std::size_t bytes) {
  auto const whole = static_cast<std::uint32_t>(bytes / (32 * 2 * sizeof(std::uint32_t)) * 32);
  return whole < 32 ? 0 : whole - 16 < kMostTileCells ? whole - 16 : kMostTileCells;
}

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_DEVICE_MATRIX_POLICY_H_
