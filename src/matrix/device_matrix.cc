#include "matrix/device_matrix.h"

#include <algorithm>

#include "core/buffer.h"
#include "core/message.h"
#include "core/parallel.h"
#include "matrix/device_matrix_policy.h"
#include "matrix/matrix.h"
#include "matrix/matrix_cuda.h"

namespace xgbgpu {

namespace {

/// Columns of a tile: as many as fit a record, fewer while their sums do not fit shared memory.
std::uint32_t TileColumns(std::uint32_t symbol_bytes, std::uint32_t symbols, FeatureIndex features,
                          std::size_t tile_bytes) {
  DeviceMatrixPolicy const policy;
  std::uint32_t columns = policy.record_bytes / symbol_bytes;
  while (columns / 2 >= features && columns > policy.least_columns) columns /= 2;
  std::uint32_t const one_word = 4 / symbol_bytes;
  std::uint32_t fitting = columns;
  while (fitting > one_word && WideTileBytes(symbols, fitting, symbol_bytes) > tile_bytes) fitting /= 2;
  // Too many bins even for one word: such sums are made in device memory, where wide tiles do no harm.
  return WideTileBytes(symbols, fitting, symbol_bytes) > tile_bytes ? columns : fitting;
}

/// Neighbouring features whose cells fit `most`, as evenly as may be; nothing if those of one do not.
std::vector<DeviceTile> SparseTiles(Cuts const& cuts, std::uint32_t most) {
  std::uint64_t const cells = cuts.bins();
  if (most == 0) return {};
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

void ChooseSparseLayout(DeviceMatrix* matrix) {
  DeviceMatrixPolicy const policy;
  DeviceMatrixView& view = matrix->view;
  view.symbol_bytes = 4;
  view.tile_columns = 1;
  view.tiles = 1;
  view.cells = matrix->cuts.bins();
  // Places are 32-bit numbers, and lanes look a little beyond the last.
  if (view.cells == 0 || matrix->stored >= (std::uint64_t{1} << 32) - 32) return;
  std::vector<DeviceTile> tiles = SparseTiles(matrix->cuts, MostSparseCells(CurrentDeviceLimits().block_bytes));
  double const row_tiles = static_cast<double>(view.rows) * static_cast<double>(tiles.size());
  if (tiles.empty() || static_cast<double>(matrix->stored) < policy.least_row_cells * row_tiles) return;
  view.symbol_bytes = 2;
  view.tiles = static_cast<std::uint32_t>(tiles.size());
  matrix->tiles = std::move(tiles);
}

}  // namespace

void ChooseDeviceLayout(DeviceMatrix* matrix, std::uint64_t rows, std::uint64_t stored,
                        std::vector<std::uint8_t> const& missing) {
  DeviceMatrixPolicy const policy;
  if (rows > policy.most_rows) {
    Throw<InvalidArgument>("The training data have ", rows, " rows; allowed on a CUDA device: 1 to ", policy.most_rows,
                           "; gpu_backend=host takes more");
  }
  DeviceMatrixView& view = matrix->view;
  FeatureIndex const features = matrix->cuts.features();
  view.rows = rows;
  view.features = features;
  matrix->stored = stored;
  view.dense = static_cast<double>(stored) >= policy.dense_from * static_cast<double>(rows) * features;
  if (!view.dense) {
    ChooseSparseLayout(matrix);
    return;
  }
  std::uint32_t symbols = 0;
  for (FeatureIndex f = 0; f < features; ++f) symbols = std::max(symbols, matrix->cuts.bins(f));
  if (std::count(missing.begin(), missing.end(), 0) != static_cast<std::ptrdiff_t>(features)) ++symbols;
  std::size_t const tile_bytes = std::min(policy.tile_bytes, CurrentDeviceLimits().block_bytes - policy.other_bytes);
  view.symbol_bytes = symbols <= 256 ? 1 : 2;
  view.tile_columns = TileColumns(view.symbol_bytes, symbols, features, tile_bytes);
  view.tiles = (features + view.tile_columns - 1) / view.tile_columns;
  view.cells = 0;
  for (std::uint32_t t = 0; t < view.tiles; ++t) {
    DeviceTile tile{view.cells, 0, 0};
    bool any_missing = false;
    FeatureIndex const end = std::min(features, (t + 1) * view.tile_columns);
    for (FeatureIndex f = t * view.tile_columns; f < end; ++f) {
      tile.bins = std::max(tile.bins, matrix->cuts.bins(f));
      any_missing |= missing[f] != 0;
    }
    tile.symbols = tile.bins + (any_missing ? 1 : 0);
    view.cells += std::uint64_t{tile.bins} * view.tile_columns;
    matrix->tiles.push_back(tile);
  }
}

namespace cuda {

namespace {

constexpr std::size_t kGrain = 1 << 12;  // rows per task

template <typename Symbol>
void PackRecords(DenseView<Symbol> const& rows, QuantisedMatrix const& matrix, DeviceMatrix const& device,
                 std::uint8_t* records, int threads) {
  DeviceMatrixView const& view = device.view;
  ParallelChunks(threads, view.rows, kGrain, [&](std::size_t begin, std::size_t end) {
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
  Buffer<std::uint32_t> cells{matrix.row_ptr[matrix.rows]};
  bool const narrow = matrix.layout == MatrixLayout::kSparse16;
  ParallelChunks(threads, cells.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      cells[i] = narrow ? reinterpret_cast<std::uint16_t const*>(matrix.data.data())[i]
                        : reinterpret_cast<std::uint32_t const*>(matrix.data.data())[i];
    }
  });
  KeepSparseRows(result.get(), Upload(&result->arena, "bins", cells.data(), cells.size()),
                 Upload(&result->arena, "rows", matrix.row_ptr.data(), matrix.rows + 1));
  return result;
}

}  // namespace cuda
}  // namespace xgbgpu
