/// Stage 2 on a CUDA device: the quantised matrix as kernels read it. docs/adr/0007-device-matrix.md
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

/// How bins lie on the device. A *histogram cell* is the pair of sums of one bin of one feature.
///
/// Dense   Columns are dealt in order to tiles of `tile_columns` (a power of two); a tile has one record of
///         tile_columns · symbol_bytes bytes per row. Records of a tile lie one after the other: a kernel that sums
///         one tile reads whole sectors. A symbol is the feature-local bin, or the tile's `missing` symbol. Columns
///         beyond the last feature hold symbol 0. A tile's cells are [bin, tile_columns]: threads of neighbouring
///         columns touch neighbouring words.
///         Where sums of columns with so many bins do not fit shared memory, dense data are sparse in tiles, too.
/// Sparse  CSR: the cells of a row ascending. Cell of (feature, bin): cut_ptr[feature] + bin.
///         Or *in tiles*, where rows have many cells in each: neighbouring features whose sums fit shared memory make
///         a tile, and each tile has a CSR of its own, of cells counted from its first.
struct DeviceTile {
  std::uint64_t first_cell;  ///< place of the tile's first cell in a histogram
  std::uint32_t bins;        ///< number of bins of its largest feature; sparse: number of cells
  std::uint32_t symbols;     ///< bins, and one more if a value is missing: symbol number `bins`; sparse: as `bins`
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
  /// Sparse in tiles: where the cells of each row begin in each tile: [tiles, rows], and the end of the last.
  std::uint32_t const* tile_ptr;
  std::uint16_t const* tile_cells;  ///< sparse in tiles: [stored values]
  BinIndex const* cut_ptr;          ///< [features + 1]

  XGBGPU_HD bool sparse_in_tiles() const { return !dense && symbol_bytes == 2; }
  XGBGPU_HD std::uint32_t record_bytes() const { return tile_columns * symbol_bytes; }
  XGBGPU_HD BinIndex bins(FeatureIndex f) const { return cut_ptr[f + 1] - cut_ptr[f]; }
  /// First cell of a feature; its next bin is cell_stride() cells further.
  XGBGPU_HD std::uint64_t first_cell(FeatureIndex f) const {
    return dense ? tile[f / tile_columns].first_cell + f % tile_columns : cut_ptr[f];
  }
  XGBGPU_HD std::uint64_t cell_stride() const { return dense ? tile_columns : 1; }
};

/// Owns the arrays of a view. Immutable once built, shared by the trainers of one device.
class DeviceMatrix {
 public:
  explicit DeviceMatrix(int device_ordinal) : device{device_ordinal} {}

  int device;
  DeviceArena arena{"The quantised matrix"};
  Cuts cuts;                               ///< the cuts on the host
  std::vector<DeviceTile> tiles;           ///< the tiles on the host; view.tile has them on the device
  std::uint64_t stored{0};                 ///< values that are not missing
  bool mostly_stored{false};               ///< DeviceLayout::mostly_stored
  DeviceMatrixView view{};                 ///< of pages: without places of bins
  std::shared_ptr<PagedBins const> pages;  ///< null: the bins are in core
  std::size_t training_bytes{0};           ///< of pages: what a training on them may take on the device, with them

  DeviceBuffer<std::uint8_t> records;
  DeviceBuffer<DeviceTile> tile_array;
  DeviceBuffer<std::uint64_t> row_ptr;
  DeviceBuffer<std::uint32_t> row_cells;
  DeviceBuffer<std::uint32_t> tile_ptr;
  DeviceBuffer<std::uint16_t> tile_cells;
  DeviceBuffer<BinIndex> cut_ptr;
};

/// What decides on a layout. All shards of the rows have one layout, because their histograms are added up cell by
/// cell.
struct LayoutFacts {
  std::uint64_t rows;                 ///< of all shards
  std::uint64_t stored;               ///< values of all shards that are not missing
  std::vector<std::uint8_t> missing;  ///< [features] 1 if any shard misses values of the feature
  std::uint64_t most_rows;            ///< rows of the largest shard
  std::uint64_t most_stored;          ///< values of the shard that has most, or a larger number
  std::size_t block_bytes;            ///< the least shared memory that a block may have on any of the devices
  std::size_t room;  ///< free memory of a device, if a layout may take more than the least; 0: none may
};

/// Returns the facts of data that lie on the current device. `present` [features]: values of each that are not missing.
LayoutFacts FactsOnDevice(std::uint64_t rows, std::vector<std::uint64_t> const& present);

/// The shape that the policy (device_matrix_policy.h) gives to data.
struct DeviceLayout {
  bool dense;
  bool mostly_stored;  ///< so many values are stored that a sparse layout was not chosen for its size
  std::uint8_t symbol_bytes;
  std::uint32_t tile_columns;
  std::uint32_t tiles;
  std::uint64_t cells;
  std::vector<DeviceTile> tile;  ///< [tiles]; empty for CSR
};

/// Throws InvalidArgument if a shard has more rows than kernels count.
DeviceLayout ChooseDeviceLayout(Cuts const& cuts, LayoutFacts const& facts);

/// Gives the matrix, whose cuts are known, this layout and these numbers of rows and values. What it has of another
/// layout is freed; pointers of the view are null, but for the cuts.
void SetDeviceLayout(DeviceLayout layout, std::uint64_t rows, std::uint64_t stored, DeviceMatrix* matrix);

/// Does both for data that lie on the current device. `missing` [features]: does the feature miss values?
void ChooseDeviceLayout(DeviceMatrix* matrix, std::uint64_t rows, std::uint64_t stored,
                        std::vector<std::uint8_t> const& missing);

namespace cuda {

/// Copies a matrix that the host has quantised: in tests, and where data are on the host already.
std::unique_ptr<DeviceMatrix> UploadMatrix(QuantisedMatrix const& matrix, int device, int threads);

/// Finds the bin of every value on the device, reading the source twice through pinned buffers: host threads pack one
/// piece while the copy and the bin search of the one before run. No raw value stays on the device.
///
/// Same    cell for cell what host::QuantiseMatrix finds
/// Throws  InvalidArgument as host::QuantiseMatrix; OutOfDeviceMemory
std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, int device, int threads);

}  // namespace cuda
}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_DEVICE_MATRIX_H_
