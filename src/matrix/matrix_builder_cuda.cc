// Bins columns of keys, or pieces of a source, into records or sparse rows on a device.
#include "matrix/matrix_builder_cuda.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "cuda/piece_stream.h"
#include "matrix/matrix_cuda.h"

namespace xgbgpu::cuda {

namespace {

/// Writes rows [begin, begin + n) of a batch one after the other, without NaNs and sorted by feature.
void PackSparseRows(RowBatch const& batch, std::uint64_t begin, std::uint64_t n, std::uint64_t const* row_ptr,
                    std::uint64_t base, Entry* out, int threads) {
  constexpr std::size_t kGrain = 1 << 9;  // rows per task
  auto const by_feature = [](Entry const& a, Entry const& b) { return a.feature < b.feature; };
  ParallelChunks(threads, n, kGrain, [&](std::size_t chunk_begin, std::size_t chunk_end) {
    for (std::uint64_t i = begin + chunk_begin; i < begin + chunk_end; ++i) {
      Span<Entry const> const row = batch.row(i);
      Entry* const to = out + (row_ptr[batch.first_row + i] - base);
      Entry* const end = std::copy_if(row.begin(), row.end(), to, [](Entry const& e) { return !std::isnan(e.value); });
      if (!std::is_sorted(to, end, by_feature)) std::sort(to, end, by_feature);
    }
  });
}

}  // namespace

MatrixBuilder::MatrixBuilder(RowSource const& source, Cuts cuts, BuildOptions const& options, DeviceArena* arena)
    : source_{source}, threads_{options.threads}, arena_{arena}, result_{new DeviceMatrix{options.device}} {
  result_->cuts = std::move(cuts);
}

void MatrixBuilder::SetLayout(DeviceLayout layout, std::optional<std::uint64_t> stored) {
  Cuts const& cuts = result_->cuts;
  if (cut_values_.data() == nullptr) {
    cut_values_ = Upload(arena_, "cuts", cuts.values.data(), cuts.values.size());
    result_->cut_ptr = Upload(&result_->arena, "cuts", cuts.ptr.data(), cuts.ptr.size());
  }
  knows_stored_ = stored.has_value();
  SetDeviceLayout(std::move(layout), source_.rows(), stored.value_or(0), result_.get());
}

bool MatrixBuilder::Bin(std::optional<KeyColumns>* columns, std::optional<host::RowSizes> const& sizes,
                        std::size_t budget) {
  if (*columns && arena_->bytes() + bytes_beside_columns() > budget) columns->reset();
  if (result_->view.dense) {
    *columns ? BinDense(**columns) : BinDense();
    return true;
  }
  try {
    if (*columns) {
      BinSparse(**columns);
    } else {
      sizes ? BinSparse(*sizes) : BinSparse(host::MeasureRows(source_, threads_));
    }
    return true;
  } catch (OutOfDeviceMemory const&) {
    if (!result_->mostly_stored) throw;
  }
  return false;
}

std::size_t MatrixBuilder::bytes_beside_columns() const {
  DeviceMatrixView const& view = result_->view;
  if (view.dense) return view.tiles * view.rows * view.record_bytes();
  // CSR takes 4 bytes a value, and tiles may take as much again. Columns know the number of values.
  return 8 * result_->stored + 16 * view.rows;
}

void MatrixBuilder::AllocateRecords() {
  DeviceMatrixView& view = result_->view;
  result_->records = {&result_->arena, "bins", view.tiles * view.rows * view.record_bytes()};
  result_->tile_array = Upload(&result_->arena, "tiles", result_->tiles.data(), result_->tiles.size());
  view.records = result_->records.data();
  view.tile = result_->tile_array.data();
}

void MatrixBuilder::BinDense(KeyColumns const& columns) {
  AllocateRecords();
  Stream const stream;
  BinColumns(result_->view, cut_values_.data(), columns.keys.data(), columns.rows, 0, columns.rows,
             result_->records.data(), stream);
  stream.Wait("finding bins");
}

void MatrixBuilder::BinDense() {
  constexpr char const* kWhat = "counting values";
  AllocateRecords();
  FeatureIndex const features = result_->view.features;
  RowUpload upload{source_, threads_};
  std::uint64_t const most = upload.most_rows(features);
  DeviceBuffer<std::uint32_t> keys{arena_, "columns in flight", upload.rings(features) * most * features};
  DeviceBuffer<unsigned long long> missing{arena_, "counts of columns", knows_stored_ ? 0 : features};
  Stream const stream;
  if (!knows_stored_) FillBytes(missing.data(), 0, missing.size(), stream, kWhat);
  stream.Wait(kWhat);
  upload.Run({0, features, features}, arena_, [&](ArrayPiece const& rows, std::size_t ring, cudaStream_t piece_stream) {
    std::uint32_t* const own = keys.data() + ring * most * features;
    TransposeToKeys(rows, features, own, most, missing.data(), piece_stream);
    BinColumns(result_->view, cut_values_.data(), own, most, rows.first_row, rows.n, result_->records.data(),
               piece_stream);
  });
  if (knows_stored_) return;
  std::vector<unsigned long long> counts(features);
  CopyToHost(counts.data(), missing.data(), counts.size(), stream, kWhat);
  stream.Wait(kWhat);
  result_->stored = source_.rows() * features - std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void MatrixBuilder::BinPieces(host::RowSizes const& sizes, std::uint64_t most, std::uint32_t* cells,
                              PieceStream* pieces) {
  constexpr char const* kWhat = "copying values to the device";
  std::uint64_t const* const row_ptr = sizes.row_ptr.data();
  DeviceBuffer<Entry> device{arena_, "values on their way", most};
  std::uint64_t base = 0, n = 0;  // entries before this piece, and entries in it
  auto const flush = [&](Entry const* piece) {
    CopyToDevice(device.data(), piece, n, pieces->stream(), kWhat);
    pieces->Close();
    BinEntries(result_->view, cut_values_.data(), device.data(), n, cells + base, pieces->stream());
    base += n;
    n = 0;
  };
  Entry* piece = nullptr;  // open if n is not 0
  source_.ForEachBatch([&](RowBatch const& batch) {
    std::uint64_t const last = batch.first_row + batch.rows();
    for (std::uint64_t row = batch.first_row; row < last;) {
      if (n == 0) piece = pieces->Open<Entry>();
      // Rows fit if they end at most `most` entries after the piece's begin.
      std::uint64_t const end = static_cast<std::uint64_t>(
          std::upper_bound(row_ptr + row + 1, row_ptr + last + 1, base + most) - row_ptr - 1);
      PackSparseRows(batch, row - batch.first_row, end - row, row_ptr, base, piece, threads_);
      n = row_ptr[end] - base;
      row = end;
      if (row < last) flush(piece);
    }
  });
  if (n != 0) flush(piece);
  pieces->Wait(kWhat);
}

void MatrixBuilder::BinSparse(host::RowSizes const& sizes) {
  std::uint64_t const rows = result_->view.rows;
  result_->stored = sizes.stored;
  DeviceBuffer<std::uint32_t> cells{&result_->arena, "bins", sizes.stored};
  DeviceBuffer<std::uint64_t> row_ptr = Upload(&result_->arena, "rows", sizes.row_ptr.data(), rows + 1);
  std::uint64_t longest = 0;
  for (std::uint64_t r = 0; r < rows; ++r) longest = std::max(longest, sizes.row_ptr[r + 1] - sizes.row_ptr[r]);
  std::uint64_t const most = std::max<std::uint64_t>(kPieceBytes / sizeof(Entry), longest);
  {
    PieceStream pieces{most * sizeof(Entry)};
    BinPieces(sizes, most, cells.data(), &pieces);
  }
  KeepSparseRows(result_.get(), std::move(cells), std::move(row_ptr));
}

void MatrixBuilder::BinSparse(KeyColumns const& columns) {
  constexpr char const* kWhat = "finding bins";
  std::uint64_t const rows = result_->view.rows;
  Stream const stream;
  DeviceBuffer<std::uint64_t> row_ptr{&result_->arena, "rows", rows + 1};
  std::vector<std::uint64_t> sizes(rows + 1);
  CountRows(columns.keys.data(), rows, columns.range.size(), row_ptr.data(), stream);
  CopyToHost(sizes.data(), row_ptr.data(), rows, stream, kWhat);
  stream.Wait(kWhat);
  std::exclusive_scan(sizes.begin(), sizes.end(), sizes.begin(), std::uint64_t{0});
  CopyToDevice(row_ptr.data(), sizes.data(), rows + 1, stream, kWhat);
  DeviceBuffer<std::uint32_t> cells{&result_->arena, "bins", sizes[rows]};
  BinSparseColumns(result_->view, cut_values_.data(), columns.keys.data(), row_ptr.data(), cells.data(), stream);
  stream.Wait(kWhat);
  KeepSparseRows(result_.get(), std::move(cells), std::move(row_ptr));
}

}  // namespace xgbgpu::cuda
