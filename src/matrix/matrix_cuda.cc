#include "matrix/matrix_cuda.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "matrix/row_sizes.h"

namespace xgbgpu::cuda {

namespace {

/// Kernels need a row: data without any stay on the host, where they cost nothing.
void CheckShape(RowSource const& source) {
  if (source.rows() == 0) throw InvalidArgument{"The training data on a device have 0 rows; allowed: 1 or more"};
  host::CheckShape(source);
}

/// A matrix on its way: shape and cuts first, then bins from wherever the values come.
class Builder {
 public:
  Builder(RowSource const& source, Cuts cuts, BuildOptions const& options, DeviceArena* arena)
      : source_{source}, threads_{options.threads}, arena_{arena}, result_{new DeviceMatrix{options.device}} {
    result_->cuts = std::move(cuts);
  }

  /// `present` [features] are the numbers of values of the columns.
  void ChooseLayout(std::vector<std::uint64_t> const& present);
  bool dense() const { return result_->view.dense; }
  std::uint64_t stored() const { return result_->stored; }
  std::size_t record_bytes() const { return result_->view.tiles * result_->view.rows * result_->view.record_bytes(); }

  void BinDense(KeyColumns const& columns);
  void BinDense();
  /// False if memory is short: dense data that would have been faster in tiles are to be binned as such.
  bool BinSparse(host::RowSizes const& sizes);
  /// Bins columns that are on the device. Returns false as the function above does.
  bool BinSparse(KeyColumns const& columns);

  std::unique_ptr<DeviceMatrix> Finish() { return std::move(result_); }

 private:
  void AllocateRecords();
  void BinRows(host::RowSizes const& sizes);
  void BinRows(KeyColumns const& columns);
  template <typename Rows>
  bool BinSparseIfItFits(Rows const& rows);
  void BinPieces(host::RowSizes const& sizes, std::uint64_t most, std::uint32_t* cells, PieceStream* pieces);

  RowSource const& source_;
  int threads_;
  DeviceArena* arena_;
  DeviceBuffer<float> cut_values_;
  std::vector<std::uint8_t> missing_;  ///< [features] does the feature miss values?
  std::unique_ptr<DeviceMatrix> result_;
};

void Builder::ChooseLayout(std::vector<std::uint64_t> const& present) {
  std::uint64_t const rows = source_.rows();
  std::uint64_t stored = 0;
  missing_.clear();
  for (std::uint64_t const values : present) {
    stored += values;
    missing_.push_back(values != rows ? 1 : 0);
  }
  ChooseDeviceLayout(result_.get(), rows, stored, missing_);
  Cuts const& cuts = result_->cuts;
  cut_values_ = Upload(arena_, "cuts", cuts.values.data(), cuts.values.size());
  result_->cut_ptr = Upload(&result_->arena, "cuts", cuts.ptr.data(), cuts.ptr.size());
  result_->view.cut_ptr = result_->cut_ptr.data();
}

void Builder::AllocateRecords() {
  result_->records = {&result_->arena, "bins", record_bytes()};
  result_->tile_array = Upload(&result_->arena, "tiles", result_->tiles.data(), result_->tiles.size());
  result_->view.records = result_->records.data();
  result_->view.tile = result_->tile_array.data();
}

void Builder::BinDense(KeyColumns const& columns) {
  AllocateRecords();
  Stream const stream;
  BinColumns(result_->view, cut_values_.data(), columns.keys.data(), columns.rows, 0, columns.rows,
             result_->records.data(), stream);
  stream.Wait("finding bins");
}

void Builder::BinDense() {
  AllocateRecords();
  FeatureIndex const features = result_->view.features;
  RowUpload upload{source_, threads_};
  std::uint64_t const most = upload.most_rows(features);
  DeviceBuffer<std::uint32_t> keys{arena_, "columns in flight", upload.rings(features) * most * features};
  upload.Run({0, features, features}, arena_, [&](ArrayPiece const& rows, std::size_t ring, cudaStream_t stream) {
    std::uint32_t* const own = keys.data() + ring * most * features;
    TransposeToKeys(rows, features, own, most, nullptr, stream);
    BinColumns(result_->view, cut_values_.data(), own, most, rows.first_row, rows.n, result_->records.data(), stream);
  });
}

/// Writes rows [begin, begin + n) of a batch one after the other, without NaNs and each in the order of features.
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

void Builder::BinPieces(host::RowSizes const& sizes, std::uint64_t most, std::uint32_t* cells, PieceStream* pieces) {
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
      // Rows fit that end at most `most` entries after the piece's begin.
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

void Builder::BinRows(host::RowSizes const& sizes) {
  std::uint64_t const rows = result_->view.rows;
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

void Builder::BinRows(KeyColumns const& columns) {
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

template <typename Rows>
bool Builder::BinSparseIfItFits(Rows const& rows) {
  try {
    BinRows(rows);
    return true;
  } catch (OutOfDeviceMemory const&) {
    if (!result_->mostly_stored()) throw;
  }
  ChooseDeviceLayout(result_.get(), result_->view.rows, result_->stored, missing_, false);
  return false;
}

bool Builder::BinSparse(host::RowSizes const& sizes) { return BinSparseIfItFits(sizes); }
bool Builder::BinSparse(KeyColumns const& columns) { return BinSparseIfItFits(columns); }

}  // namespace

std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, BuildOptions const& options) {
  CheckShape(source);
  host::RowSizes const sizes = host::MeasureRows(source, options.threads);
  DeviceArena arena{"Quantising the matrix on the GPU"};
  Builder builder{source, std::move(cuts), options, &arena};
  builder.ChooseLayout(sizes.column);
  if (builder.dense() || !builder.BinSparse(sizes)) builder.BinDense();
  return builder.Finish();
}

std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, int device, int threads) {
  DeviceScope const scope{device};
  return QuantiseMatrix(source, std::move(cuts), BuildOptions{device, threads});
}

std::unique_ptr<DeviceMatrix> BuildMatrix(RowSource const& source, CutsWanted const& wanted,
                                          BuildOptions const& options) {
  std::size_t const budget = MemoryBudget(options);
  DeviceArena arena{"Quantising the matrix on the GPU"};
  Quantiles quantiles = FindQuantiles(source, wanted, options, &arena);
  CheckShape(source);
  Builder builder{source, std::move(quantiles.cuts), options, &arena};
  builder.ChooseLayout(quantiles.present);
  if (builder.dense() && quantiles.columns && builder.record_bytes() + arena.bytes() <= budget) {
    builder.BinDense(*quantiles.columns);
    return builder.Finish();
  }
  // Columns that are on the device become sparse rows without another pass over the data. CSR takes 4 bytes a value,
  // and tiles may take as much again.
  double const sparse_bytes = 8.0 * static_cast<double>(builder.stored()) + 16.0 * static_cast<double>(source.rows());
  if (!builder.dense() && quantiles.columns &&
      sparse_bytes + static_cast<double>(arena.bytes()) <= static_cast<double>(budget)) {
    if (!builder.BinSparse(*quantiles.columns)) builder.BinDense(*quantiles.columns);
    return builder.Finish();
  }
  quantiles.columns.reset();
  if (builder.dense() || !builder.BinSparse(host::MeasureRows(source, options.threads))) builder.BinDense();
  return builder.Finish();
}

}  // namespace xgbgpu::cuda
