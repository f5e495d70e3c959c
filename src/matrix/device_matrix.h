/// Stage 2 on a CUDA device: the quantised matrix in the layout of kernels. docs/adr/0007-device-matrix.md
#ifndef XGBGPU_MATRIX_DEVICE_MATRIX_H_
#define XGBGPU_MATRIX_DEVICE_MATRIX_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hd.h"
#include "cuda/device.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

class PagedBins;  // matrix/paged_bins_cuda.h
class QuantisedMatrix;

/// Layouts of bins on the device. A *histogram cell* is the pair of sums of one bin of one feature.
///
/// Dense   Columns are divided in order into tiles of `tile_columns` (a power of two). A tile has one record of
///         tile_columns · symbol_bytes bytes per row. The records of a tile are contiguous: a kernel that sums one tile
///         reads whole sectors. A symbol is the feature-local bin, or the tile's `missing` symbol. Columns beyond the
///         last feature have symbol 0. A tile's cells are [bin, tile_columns]: threads of neighbouring columns touch
///         neighbouring words. If the sums of columns with many bins exceed shared memory, dense data are sparse in
///         tiles, too.
/// Sparse  CSR: the cells of a row, ascending. Cell of (feature, bin): cut_ptr[feature] + bin. Or *in tiles*, if rows
///         have many cells in each: neighbouring features whose sums fit shared memory make a tile. Each tile has a CSR
///         of its own, whose cells count from the tile's first.
struct DeviceTile {
  std::uint64_t first_cell;  ///< number of the tile's first cell in a histogram
  std::uint32_t bins;        ///< number of bins of the largest feature; sparse: number of cells
  std::uint32_t symbols;     ///< bins, and one more if a value is missing: symbol number `bins`; sparse: as `bins`
};

/// The places of columns in a copy of some columns (sample/column_copy_cuda.h). The arrays are on the device. Without a
/// copy they are null, and each feature is its own column.
struct CopiedColumns {
  FeatureIndex columns{0};
  FeatureIndex const* column_of{nullptr};   ///< [features] column of each copied feature
  FeatureIndex const* feature_of{nullptr};  ///< [columns], ascending within each tile
  DeviceTile const* tile{nullptr};          ///< the tiles of the whole matrix: the copy has their symbols
  std::uint32_t tile_columns{0};            ///< columns of a tile of the whole matrix
};

struct DeviceMatrixView {
  std::uint64_t rows;
  FeatureIndex features;
  bool dense;
  std::uint8_t symbol_bytes;       ///< dense: 1 or 2; sparse: 4, in tiles 2
  std::uint32_t tile_columns;      ///< dense: columns of a tile
  std::uint32_t tiles;             ///< 1 for CSR
  std::uint64_t cells;             ///< number of cells of one histogram
  std::uint8_t const* records;     ///< dense: [tiles, rows, tile_columns · symbol_bytes]
  DeviceTile const* tile;          ///< dense, and sparse in tiles: [tiles]
  std::uint64_t const* row_ptr;    ///< CSR: [rows + 1]
  std::uint32_t const* row_cells;  ///< CSR: [stored values]
  /// Sparse in tiles: offsets of each row's cells in each tile, [tiles, rows], and the end of the last.
  std::uint32_t const* tile_ptr;
  std::uint16_t const* tile_cells;  ///< sparse in tiles: [stored values]
  BinIndex const* cut_ptr;          ///< [features + 1]
  CopiedColumns copied;             ///< dense

  XGBGPU_HD bool sparse_in_tiles() const { return !dense && symbol_bytes == 2; }
  XGBGPU_HD std::uint32_t record_bytes() const { return tile_columns * symbol_bytes; }
  XGBGPU_HD BinIndex bins(FeatureIndex f) const { return cut_ptr[f + 1] - cut_ptr[f]; }
  XGBGPU_HD FeatureIndex columns() const { return copied.feature_of == nullptr ? features : copied.columns; }
  XGBGPU_HD FeatureIndex column(FeatureIndex f) const { return copied.column_of == nullptr ? f : copied.column_of[f]; }
  XGBGPU_HD FeatureIndex feature(FeatureIndex column) const {
    return copied.feature_of == nullptr ? column : copied.feature_of[column];
  }
  /// Returns the offset of row 0's symbol of a dense column in `records`. The next row's is record_bytes() further.
  XGBGPU_HD std::uint64_t symbol_offset(FeatureIndex column) const {
    return std::uint64_t{column / tile_columns} * rows * record_bytes() + column % tile_columns * symbol_bytes;
  }
  /// Returns the tile that says which symbol of a dense feature is "missing".
  XGBGPU_HD DeviceTile const& tile_of(FeatureIndex f) const {
    return copied.tile == nullptr ? tile[f / tile_columns] : copied.tile[f / copied.tile_columns];
  }
  /// Returns the first cell of a feature. Its next bin is cell_stride() cells further.
  XGBGPU_HD std::uint64_t first_cell(FeatureIndex f) const {
    if (!dense) return cut_ptr[f];
    FeatureIndex const c = column(f);
    return tile[c / tile_columns].first_cell + c % tile_columns;
  }
  XGBGPU_HD std::uint64_t cell_stride() const { return dense ? tile_columns : 1; }
};

/// Owns the arrays of a view. Immutable once built. The trainers of one device share it.
class DeviceMatrix {
 public:
  explicit DeviceMatrix(int device_ordinal) : device{device_ordinal} {}

  int device;
  DeviceArena arena{"The quantised matrix"};
  Cuts cuts;                               ///< the cuts on the host
  std::vector<DeviceTile> tiles;           ///< the tiles on the host; view.tile has them on the device
  std::uint64_t stored{0};                 ///< number of values that are not missing
  bool mostly_stored{false};               ///< DeviceLayout::mostly_stored
  DeviceMatrixView view{};                 ///< of pages: bins are null
  std::shared_ptr<PagedBins const> pages;  ///< null: the bins are in core
  std::size_t training_bytes{0};           ///< of pages: device memory of a training on them, pages included

  DeviceBuffer<std::uint8_t> records;
  DeviceBuffer<DeviceTile> tile_array;
  DeviceBuffer<std::uint64_t> row_ptr;
  DeviceBuffer<std::uint32_t> row_cells;
  DeviceBuffer<std::uint32_t> tile_ptr;
  DeviceBuffer<std::uint16_t> tile_cells;
  DeviceBuffer<BinIndex> cut_ptr;
};

/// The facts that decide on a layout. All shards of the rows have one layout, because their histograms are added cell
/// by cell.
struct LayoutFacts {
  std::uint64_t rows;                 ///< of all shards
  std::uint64_t stored;               ///< number of values of all shards that are not missing
  std::vector<std::uint8_t> missing;  ///< [features] 1 if any shard misses values of the feature
  std::uint64_t most_rows;            ///< rows of the largest shard
  std::uint64_t most_stored;          ///< values of the largest shard, or a larger number
  std::size_t block_bytes;            ///< least shared memory of a block on any of the devices
  std::size_t room;  ///< free memory of a device for a layout beyond the smallest; 0: only the smallest
};

/// Returns the facts of data on the current device. `present` [features]: each feature's number of values that are not
/// missing.
LayoutFacts FactsOnDevice(std::uint64_t rows, std::vector<std::uint64_t> const& present);

/// The shape that the policy (device_matrix_policy.h) chooses for data.
struct DeviceLayout {
  bool dense;
  bool mostly_stored;  ///< too many values are stored for a sparse layout to be smaller
  std::uint8_t symbol_bytes;
  std::uint32_t tile_columns;
  std::uint32_t tiles;
  std::uint64_t cells;
  std::vector<DeviceTile> tile;  ///< [tiles]; empty for CSR
};

/// Throws InvalidArgument if a shard has more rows than kernels count.
DeviceLayout ChooseDeviceLayout(Cuts const& cuts, LayoutFacts const& facts);

/// Sets layout and numbers of rows and values of a matrix that has its cuts. Frees the data of an earlier layout.
/// Pointers of the view become null, except the cuts.
void SetDeviceLayout(DeviceLayout layout, std::uint64_t rows, std::uint64_t stored, DeviceMatrix* matrix);

/// Chooses and sets the layout for data on the current device. `missing` [features]: 1 if the feature misses values.
void ChooseDeviceLayout(DeviceMatrix* matrix, std::uint64_t rows, std::uint64_t stored,
                        std::vector<std::uint8_t> const& missing);

namespace cuda {

/// Copies a matrix that the host has quantised: in tests, and for data that are on the host already.
std::unique_ptr<DeviceMatrix> UploadMatrix(QuantisedMatrix const& matrix, int device, int threads);

/// Finds the bin of every value on the device. Reads the source twice through pinned buffers: host threads pack one
/// piece during the copy and the bin search of the piece before. No raw value stays on the device.
///
/// Same    the cells of host::QuantiseMatrix
/// Throws  InvalidArgument as host::QuantiseMatrix; OutOfDeviceMemory
std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, int device, int threads);

}  // namespace cuda
}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_DEVICE_MATRIX_H_
