// Reads bins from a device, in core or in pages, and replaces them by lower ends of bins.
#include "matrix/lower_ends.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "matrix/bin_ends.h"
#include "matrix/paged_bins_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr char kWhat[] = "reading bins back";
constexpr std::size_t kRowsPerTask = 1 << 9;

template <typename T>
std::vector<T> Bring(T const* from, std::size_t n) {
  std::vector<T> to(n);
  CheckCuda(cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost), kWhat);
  return to;
}

/// A block of rows on the host.
struct Block {
  std::vector<std::uint64_t> offsets;  ///< [rows + 1]
  std::vector<Entry> entries;

  explicit Block(std::uint64_t rows) : offsets(rows + 1) {}
  /// Makes offsets from the sizes in offsets[1 …], and room for the entries.
  void AddUp() {
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    entries.resize(offsets.back());
  }
};

/// Calls use(row, feature, bin) for the stored values of dense rows, in the order of features.
template <typename F>
void ForDense(DeviceMatrix const& matrix, std::vector<std::uint8_t> const& records, std::uint64_t rows,
              std::uint64_t row, F&& use) {
  DeviceMatrixView const& view = matrix.view;  // pages have the same tiles
  for (std::uint32_t t = 0; t < view.tiles; ++t) {
    DeviceTile const& tile = matrix.tiles[t];
    std::uint8_t const* const record = records.data() + (t * rows + row) * view.record_bytes();
    FeatureIndex const first = t * view.tile_columns, last = std::min(view.features, first + view.tile_columns);
    for (FeatureIndex f = first; f < last; ++f) {
      std::uint32_t symbol = record[f - first];
      if (view.symbol_bytes == 2) {
        std::uint16_t wide = 0;
        std::memcpy(&wide, record + 2 * (f - first), sizeof(wide));
        symbol = wide;
      }
      bool const is_missing = tile.symbols > tile.bins && symbol == tile.bins;
      if (!is_missing) use(f, symbol);
    }
  }
}

Block ReadDense(DeviceMatrix const& matrix, DeviceMatrixView const& view, BinEnds const& ends, std::uint64_t first,
                std::uint64_t rows, int threads) {
  std::size_t const bytes = rows * view.record_bytes();
  std::vector<std::uint8_t> records(view.tiles * bytes);
  CheckCuda(cudaMemcpy2D(records.data(), bytes, view.records + first * view.record_bytes(),
                         view.rows * view.record_bytes(), bytes, view.tiles, cudaMemcpyDeviceToHost),
            kWhat);
  Block block{rows};
  ParallelChunks(threads, rows, kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      ForDense(matrix, records, rows, r, [&](FeatureIndex, std::uint32_t) { ++block.offsets[r + 1]; });
    }
  });
  block.AddUp();
  ParallelChunks(threads, rows, kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      Entry* to = block.entries.data() + block.offsets[r];
      ForDense(matrix, records, rows, r, [&](FeatureIndex f, std::uint32_t bin) { *to++ = ends.At(f, bin); });
    }
  });
  return block;
}

Block ReadRows(DeviceMatrixView const& view, BinEnds const& ends, std::uint64_t first, std::uint64_t rows,
               int threads) {
  Block block{rows};
  auto const row_ptr = Bring(view.row_ptr + first, rows + 1);
  auto const cells = Bring(view.row_cells + row_ptr[0], row_ptr[rows] - row_ptr[0]);
  for (std::size_t r = 0; r < rows; ++r) block.offsets[r + 1] = row_ptr[r + 1] - row_ptr[r];
  block.AddUp();
  ParallelChunks(threads, rows, kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      FeatureIndex feature = 0;
      for (std::uint64_t i = block.offsets[r]; i < block.offsets[r + 1]; ++i) {
        block.entries[i] = ends.AtCell(cells[i], feature);
        feature = block.entries[i].feature;
      }
    }
  });
  return block;
}

Block ReadTiles(DeviceMatrix const& matrix, DeviceMatrixView const& view, BinEnds const& ends, std::uint64_t first,
                std::uint64_t rows) {
  Block block{rows};
  std::vector<std::vector<std::uint32_t>> begins;
  for (std::uint32_t t = 0; t < view.tiles; ++t) {
    begins.push_back(Bring(view.tile_ptr + t * view.rows + first, rows + 1));
    for (std::size_t r = 0; r < rows; ++r) block.offsets[r + 1] += begins[t][r + 1] - begins[t][r];
  }
  block.AddUp();
  std::vector<std::uint64_t> next(block.offsets.cbegin(), block.offsets.cend() - 1);
  for (std::uint32_t t = 0; t < view.tiles; ++t) {
    auto const cells = Bring(view.tile_cells + begins[t][0], begins[t][rows] - begins[t][0]);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::uint32_t i = begins[t][r]; i < begins[t][r + 1]; ++i) {
        std::uint64_t const cell = matrix.tiles[t].first_cell + cells[i - begins[t][0]];
        FeatureIndex const from = next[r] == block.offsets[r] ? 0 : block.entries[next[r] - 1].feature;
        block.entries[next[r]++] = ends.AtCell(cell, from);
      }
    }
  }
  return block;
}

/// Calls use(view, first row in the view, rows) for the rows first … first + count - 1, in core or in pages. A page is
/// on the device during the call.
template <typename Use>
void ForEachView(DeviceMatrix const& matrix, std::uint64_t first, std::uint64_t count, Use&& use) {
  if (!matrix.pages) {
    use(matrix.view, first, count);
    return;
  }
  PagedBins const& bins = *matrix.pages;
  DeviceArena arena{"Reading bins back"};
  DeviceBuffer<std::uint8_t> unpacked{&arena, "pages", bins.most_unpacked_bytes()};
  Stream const stream;
  std::vector<std::uint8_t> bytes;
  for (std::size_t p = 0; p < bins.pages().size(); ++p) {
    RowPage const& page = bins.pages()[p];
    std::uint64_t const begin = std::max(first, page.first_row);
    std::uint64_t const end = std::min(first + count, page.first_row + page.view.rows);
    if (begin >= end) continue;
    bytes.resize(bins.bytes(p));
    bins.store().Read(p, bytes.data());
    auto const packed = Upload(&arena, "pages", bytes.data(), bytes.size());
    DeviceMatrixView const view = bins.Unpack(p, packed.data(), unpacked.data(), CurrentDeviceLimits(), stream);
    stream.Wait(kWhat);
    use(view, begin - page.first_row, end - begin);
  }
}

}  // namespace

void VisitLowerEnds(DeviceMatrix const& matrix, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit) {
  DeviceScope const scope{matrix.device};
  BinEnds const ends{matrix.cuts};
  constexpr std::uint64_t kValues = 1 << 21;
  std::uint64_t const width =
      matrix.view.dense ? matrix.view.features : 1 + matrix.stored / std::max<std::uint64_t>(1, matrix.view.rows);
  std::uint64_t const most = std::max<std::uint64_t>(1, kValues / width);
  std::uint64_t visited = 0;
  ForEachView(matrix, first, count, [&](DeviceMatrixView const& view, std::uint64_t from, std::uint64_t rows) {
    for (std::uint64_t row = 0; row < rows; row += most) {
      std::uint64_t const n = std::min(most, rows - row);
      Block const block = view.dense               ? ReadDense(matrix, view, ends, from + row, n, threads)
                          : view.sparse_in_tiles() ? ReadTiles(matrix, view, ends, from + row, n)
                                                   : ReadRows(view, ends, from + row, n, threads);
      visit({visited, {block.offsets.data(), block.offsets.size()}, {block.entries.data(), block.entries.size()}});
      visited += n;
    }
  });
}

}  // namespace xgbgpu::cuda
