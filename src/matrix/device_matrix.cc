// Chooses the layout of a matrix on a device, and uploads matrices of the host.
#include "matrix/device_matrix.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/buffer.h"
#include "base/message.h"
#include "base/parallel.h"
#include "matrix/device_matrix_policy.h"
#include "matrix/matrix.h"
#include "matrix/matrix_cuda.h"
#include "quantile/quantile_policy.h"

namespace xgbgpu {

namespace {

/// Returns the columns of a tile: the columns that fit a record, or fewer if their sums do not fit shared memory.
std::uint32_t TileColumns(std::uint32_t symbol_bytes, std::uint32_t symbols, FeatureIndex features,
                          std::size_t tile_bytes) {
  DeviceMatrixPolicy const policy;
  std::uint32_t columns = policy.record_bytes / symbol_bytes;
  while (columns / 2 >= features && columns > policy.least_columns) columns /= 2;
  std::uint32_t const one_word = 4 / symbol_bytes;
  std::uint32_t fitting = columns;
  while (fitting > one_word && WideTileBytes(symbols, fitting, symbol_bytes) > tile_bytes) fitting /= 2;
  // Too many bins even for one word: the sums are made in device memory, where wide tiles do no harm.
  return WideTileBytes(symbols, fitting, symbol_bytes) > tile_bytes ? columns : fitting;
}

/// Returns tiles of neighbouring features whose cells fit `most`, as even as possible, or nothing if a feature does not
/// fit.
std::vector<DeviceTile> SparseTiles(Cuts const& cuts, std::uint32_t most) {
  std::uint64_t const cells = cuts.bins();
  if (most == 0 || cells == 0) return {};
  std::uint64_t const wanted = (cells + most - 1) / most, even = (cells + wanted - 1) / wanted;
  std::vector<DeviceTile> tiles{{0, 0, 0}};
  for (FeatureIndex f = 0; f < cuts.features(); ++f) {
    BinIndex const bins = cuts.bins(f);
    if (bins > most) return {};
    DeviceTile* tile = &tiles.back();
    if (tile->bins >= even || tile->bins + bins > most) {
      tiles.push_back({tile->first_cell + tile->bins, 0, 0});
      tile = &tiles.back();
    }
    tile->symbols = tile->bins += bins;
  }
  return tiles;
}

/// Chooses CSR, or tiles if rows have `least_row_cells` values for each tile.
void ChooseSparseLayout(Cuts const& cuts, LayoutFacts const& facts, double least_row_cells, DeviceLayout* layout) {
  layout->symbol_bytes = 4;
  layout->tile_columns = 1;
  layout->tiles = 1;
  layout->cells = cuts.bins();
  // Places are 32-bit numbers. Lanes read beyond the end of their row until the longest row of the warp ends.
  constexpr std::uint64_t kMostRowTiles =
      (std::uint64_t{1} << 31) - 2;  // CUB before 2.6 counts what it adds up in an int
  constexpr std::uint64_t kMostPlaces = (std::uint64_t{1} << 32) - 2 * kMostTileCells;
  if (facts.most_stored >= kMostPlaces) return;
  std::vector<DeviceTile> tiles = SparseTiles(cuts, MostSparseCells(facts.block_bytes));
  if (tiles.empty() || facts.most_rows > kMostRowTiles / tiles.size()) return;
  double const row_tiles = static_cast<double>(facts.rows) * static_cast<double>(tiles.size());
  if (static_cast<double>(facts.stored) < least_row_cells * row_tiles) return;
  layout->symbol_bytes = 2;
  layout->tiles = static_cast<std::uint32_t>(tiles.size());
  layout->tile = std::move(tiles);
}

/// Returns the most symbols of a tile: bins, and one for "missing".
std::uint32_t MostSymbols(Cuts const& cuts, std::vector<std::uint8_t> const& missing) {
  std::uint32_t symbols = 0;
  for (FeatureIndex f = 0; f < cuts.features(); ++f) symbols = std::max(symbols, cuts.bins(f));
  return symbols +
         (std::count(missing.begin(), missing.end(), 0) == static_cast<std::ptrdiff_t>(cuts.features()) ? 0 : 1);
}

/// Divides columns into tiles with records of `tile_columns` symbols.
void DealColumns(Cuts const& cuts, std::vector<std::uint8_t> const& missing, std::uint32_t tile_columns,
                 DeviceLayout* layout) {
  FeatureIndex const features = cuts.features();
  layout->tile_columns = tile_columns;
  layout->tiles = (features + tile_columns - 1) / tile_columns;
  layout->cells = 0;
  for (std::uint32_t t = 0; t < layout->tiles; ++t) {
    DeviceTile tile{layout->cells, 0, 0};
    bool any_missing = false;
    FeatureIndex const end = std::min(features, (t + 1) * tile_columns);
    for (FeatureIndex f = t * tile_columns; f < end; ++f) {
      tile.bins = std::max(tile.bins, cuts.bins(f));
      any_missing |= missing[f] != 0;
    }
    tile.symbols = tile.bins + (any_missing ? 1 : 0);
    layout->cells += std::uint64_t{tile.bins} * tile_columns;
    layout->tile.push_back(tile);
  }
}

/// Returns true if dense data can become tiles, by way of CSR, in half of the free memory.
bool HasRoomForTiles(LayoutFacts const& facts) {
  constexpr std::uint64_t kValueBytes = sizeof(std::uint32_t) + sizeof(std::uint16_t) + sizeof(std::uint32_t);
  return facts.most_stored * kValueBytes + facts.most_rows * sizeof(std::uint64_t) <= facts.room / 2;
}

}  // namespace

LayoutFacts FactsOnDevice(std::uint64_t rows, std::vector<std::uint64_t> const& present) {
  std::uint64_t const stored = std::accumulate(present.begin(), present.end(), std::uint64_t{0});
  LayoutFacts facts{rows, stored, {}, rows, stored, CurrentDeviceLimits().block_bytes, CurrentMemory().free};
  for (std::uint64_t const values : present) facts.missing.push_back(values != rows ? 1 : 0);
  return facts;
}

DeviceLayout ChooseDeviceLayout(Cuts const& cuts, LayoutFacts const& facts) {
  DeviceMatrixPolicy const policy;
  if (facts.most_rows > policy.most_rows) {
    Throw<InvalidArgument>("The training data have ", facts.most_rows, " rows; allowed on a CUDA device: 1 to ",
                           policy.most_rows, "; gpu_backend=host takes more");
  }
  DeviceLayout layout{};
  FeatureIndex const features = cuts.features();
  layout.mostly_stored =
      static_cast<double>(facts.stored) >= QuantilePolicy{}.dense_from * static_cast<double>(facts.rows) * features;
  if (!layout.mostly_stored) {
    ChooseSparseLayout(cuts, facts, policy.least_row_cells, &layout);
    return layout;
  }
  std::uint32_t const symbols = MostSymbols(cuts, facts.missing);
  std::uint32_t const symbol_bytes = symbols <= 256 ? 1 : 2;
  std::size_t const tile_bytes = std::min(policy.tile_bytes, facts.block_bytes - policy.other_bytes);
  std::uint32_t const columns = TileColumns(symbol_bytes, symbols, features, tile_bytes);
  if (WideTileBytes(symbols, columns, symbol_bytes) > tile_bytes && HasRoomForTiles(facts)) {
    ChooseSparseLayout(cuts, facts, policy.least_dense_row_cells, &layout);
    if (!layout.tile.empty()) return layout;
  }
  layout.dense = true;
  layout.symbol_bytes = static_cast<std::uint8_t>(symbol_bytes);
  DealColumns(cuts, facts.missing, columns, &layout);
  return layout;
}

void SetDeviceLayout(DeviceLayout layout, std::uint64_t rows, std::uint64_t stored, DeviceMatrix* matrix) {
  matrix->records = {};
  matrix->tile_array = {};
  matrix->row_ptr = {};
  matrix->row_cells = {};
  matrix->tile_ptr = {};
  matrix->tile_cells = {};
  matrix->stored = stored;
  matrix->mostly_stored = layout.mostly_stored;
  matrix->tiles = std::move(layout.tile);
  DeviceMatrixView view{};
  view.rows = rows;
  view.features = matrix->cuts.features();
  view.dense = layout.dense;
  view.symbol_bytes = layout.symbol_bytes;
  view.tile_columns = layout.tile_columns;
  view.tiles = layout.tiles;
  view.cells = layout.cells;
  view.cut_ptr = matrix->cut_ptr.data();
  matrix->view = view;
}

void ChooseDeviceLayout(DeviceMatrix* matrix, std::uint64_t rows, std::uint64_t stored,
                        std::vector<std::uint8_t> const& missing) {
  LayoutFacts const facts{rows, stored, missing, rows, stored, CurrentDeviceLimits().block_bytes, CurrentMemory().free};
  SetDeviceLayout(ChooseDeviceLayout(matrix->cuts, facts), rows, stored, matrix);
}

namespace cuda {

namespace {

constexpr std::size_t kTaskRows = 1 << 12;  // rows per task

template <typename Symbol>
void PackRecords(DenseView<Symbol> const& rows, QuantisedMatrix const& matrix, DeviceMatrix const& device,
                 std::uint8_t* records, int threads) {
  DeviceMatrixView const& view = device.view;
  ParallelChunks(threads, view.rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    for (FeatureIndex f = 0; f < view.features; ++f) {
      DeviceTile const& tile = device.tiles[f / view.tile_columns];
      std::uint8_t* const column =
          records + f / view.tile_columns * view.rows * view.record_bytes() + f % view.tile_columns * view.symbol_bytes;
      for (std::size_t r = begin; r < end; ++r) {
        std::uint32_t symbol = rows.row(static_cast<RowIndex>(r))[f];
        if (symbol == matrix.cuts.bins(f)) symbol = tile.bins;
        std::uint8_t* const at = column + r * view.record_bytes();
        at[0] = static_cast<std::uint8_t>(symbol);
        if (view.symbol_bytes == 2) at[1] = static_cast<std::uint8_t>(symbol >> 8);
      }
    }
  });
}

/// The CSR of a device matrix, with the cells of a device's histogram.
struct SparseRows {
  Buffer<std::uint32_t> cells;
  std::vector<std::uint64_t> row_ptr;
};

template <typename Cell>
SparseRows CellsOf(SparseView<Cell> const& rows, QuantisedMatrix const& matrix, int threads) {
  SparseRows result{Buffer<std::uint32_t>{matrix.stored}, {rows.row_ptr, rows.row_ptr + matrix.rows + 1}};
  ParallelChunks(threads, matrix.stored, kTaskRows, [&](std::size_t begin, std::size_t end) {
    std::copy(rows.cells + begin, rows.cells + end, result.cells.data() + begin);
  });
  return result;
}

template <typename Symbol>
SparseRows CellsOf(DenseView<Symbol> const& rows, QuantisedMatrix const& matrix, int threads) {
  FeatureIndex const features = matrix.features();
  Cuts const& cuts = matrix.cuts;
  SparseRows result{Buffer<std::uint32_t>{matrix.stored}, std::vector<std::uint64_t>(matrix.rows + 1)};
  auto const for_stored = [&](std::size_t r, auto&& use) {
    for (FeatureIndex f = 0; f < features; ++f) {
      std::uint32_t const bin = rows.row(static_cast<RowIndex>(r))[f];
      if (bin != cuts.bins(f)) use(cuts.ptr[f] + bin);
    }
  };
  ParallelChunks(threads, matrix.rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) for_stored(r, [&](std::uint32_t) { ++result.row_ptr[r + 1]; });
  });
  std::partial_sum(result.row_ptr.begin(), result.row_ptr.end(), result.row_ptr.begin());
  ParallelChunks(threads, matrix.rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      std::uint32_t* to = result.cells.data() + result.row_ptr[r];
      for_stored(r, [&](std::uint32_t cell) { *to++ = cell; });
    }
  });
  return result;
}

}  // namespace

std::unique_ptr<DeviceMatrix> UploadMatrix(QuantisedMatrix const& matrix, int device, int threads) {
  DeviceScope scope{device};
  auto result = std::make_unique<DeviceMatrix>(device);
  result->cuts = matrix.cuts;
  std::vector<std::uint8_t> missing(matrix.features());
  for (FeatureIndex f = 0; f < matrix.features(); ++f) {
    missing[f] = matrix.cell_ptr[f + 1] - matrix.cell_ptr[f] > matrix.cuts.bins(f);
  }
  ChooseDeviceLayout(result.get(), matrix.rows, matrix.stored, missing);
  DeviceMatrixView& view = result->view;
  result->cut_ptr = Upload(&result->arena, "cuts", matrix.cuts.ptr.data(), matrix.cuts.ptr.size());
  view.cut_ptr = result->cut_ptr.data();
  if (view.dense) {
    Buffer<std::uint8_t> records{view.tiles * view.rows * view.record_bytes()};
    std::fill_n(records.data(), records.size(), std::uint8_t{0});
    if (matrix.layout == MatrixLayout::kDense8) {
      matrix.Visit([&](auto const& rows) {
        if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, DenseView<std::uint8_t>>) {
          PackRecords(rows, matrix, *result, records.data(), threads);
        }
      });
    } else {
      matrix.Visit([&](auto const& rows) {
        if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, DenseView<std::uint16_t>>) {
          PackRecords(rows, matrix, *result, records.data(), threads);
        }
      });
    }
    result->records = Upload(&result->arena, "bins", records.data(), records.size());
    result->tile_array = Upload(&result->arena, "tiles", result->tiles.data(), result->tiles.size());
    view.records = result->records.data();
    view.tile = result->tile_array.data();
    return result;
  }
  SparseRows const rows = matrix.Visit([&](auto const& of_host) { return CellsOf(of_host, matrix, threads); });
  KeepSparseRows(result.get(), Upload(&result->arena, "bins", rows.cells.data(), rows.cells.size()),
                 Upload(&result->arena, "rows", rows.row_ptr.data(), rows.row_ptr.size()));
  return result;
}

}  // namespace cuda
}  // namespace xgbgpu
