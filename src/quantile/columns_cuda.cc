// Uploads rows to a device and gathers their columns there.
#include "quantile/columns_cuda.h"

#include <algorithm>

#include "quantile/quantile_policy.h"

namespace xgbgpu::cuda {

std::size_t MemoryBudget(BuildOptions const& options) {
  if (options.memory_bytes != 0) return options.memory_bytes;
  return static_cast<std::size_t>(QuantilePolicy{}.memory_share * static_cast<double>(CurrentMemory().free) /
                                  options.sharers);
}

RowUpload::RowUpload(RowSource const& source, int threads) : source_{source}, threads_{threads} {
  if (auto const values = source.arrays()) {
    arrays_.emplace(*values, source.rows(), source.features(), threads);
  } else {
    pieces_.emplace(std::max<std::size_t>(kPieceBytes, source.features() * sizeof(float)));
  }
}

std::uint64_t RowUpload::most_rows(FeatureIndex columns) const {
  return arrays_ ? arrays_->most_rows(columns) : pieces_->bytes() / sizeof(float) / columns;
}

std::size_t RowUpload::device_bytes(FeatureIndex columns) const {
  return arrays_ ? arrays_->device_bytes(columns) : pieces_->bytes();
}

void RowUpload::Run(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use) {
  if (!arrays_) {
    RunEntries(range, arena, use);
    return;
  }
  source_.ForEachArray([&](ArrayBatch const& array) { arrays_->Run(array, range.first, range.last, arena, use); });
}

void RowUpload::RunEntries(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use) {
  std::size_t const columns = range.size();
  std::uint64_t const most = most_rows(range.size());
  DeviceBuffer<float> device{arena, "rows on their way", most * columns};
  ArrayPiece rows{{device.data()}, columns, 0, 0};
  auto const flush = [&](float const* piece) {
    CopyToDevice(device.data(), piece, rows.n * columns, pieces_->stream(), "copying rows to the device");
    pieces_->Close();
    use(rows, 0, pieces_->stream());
    rows.first_row += rows.n;
    rows.n = 0;
  };
  float* piece = nullptr;  // open while rows.n is not 0
  source_.ForEachBatch([&](RowBatch const& batch) {
    for (std::uint64_t row = 0; row < batch.rows();) {
      if (rows.n == 0) piece = pieces_->Open<float>();
      std::uint64_t const take = std::min(most - rows.n, batch.rows() - row);
      PackRows(batch, row, take, range, piece + rows.n * columns, threads_);
      row += take;
      rows.n += take;
      if (rows.n == most) flush(piece);
    }
  });
  if (rows.n != 0) flush(piece);
  pieces_->Wait("copying rows to the device");
}

KeyColumns GatherColumns(ColumnRange const& range, DeviceArena* arena, RowUpload* upload) {
  constexpr char const* kWhat = "counting values";
  std::uint64_t const rows = upload->source().rows();
  KeyColumns result{range, rows, {arena, "columns in flight", range.size() * rows}, {}};
  DeviceBuffer<unsigned long long> missing{arena, "counts of columns", range.size()};
  Stream const stream;
  FillBytes(missing.data(), 0, missing.size(), stream, kWhat);
  stream.Wait(kWhat);
  upload->Run(range, arena, [&](ArrayPiece const& piece, std::size_t, cudaStream_t piece_stream) {
    TransposeToKeys(piece, range.size(), result.keys.data() + piece.first_row, rows, missing.data(), piece_stream);
  });
  std::vector<unsigned long long> counts(range.size());
  CopyToHost(counts.data(), missing.data(), counts.size(), stream, kWhat);
  stream.Wait(kWhat);
  for (unsigned long long const count : counts) result.present.push_back(rows - count);
  return result;
}

}  // namespace xgbgpu::cuda
