#include "quantile/columns_cuda.h"

#include <algorithm>

#include "quantile/quantile_policy.h"

namespace xgbgpu::cuda {

std::size_t MemoryBudget(BuildOptions const& options, RowSource const& source) {
  if (options.memory_bytes != 0) return options.memory_bytes;
  QuantilePolicy const policy;
  std::size_t free = 0, total = 0;
  CheckCuda(cudaMemGetInfo(&free, &total), "asking for free memory");
  double const values = static_cast<double>(source.rows()) * source.features();
  double const wanted = std::max(policy.least_bytes, policy.bytes_per_value * values);
  return static_cast<std::size_t>(std::min(policy.memory_share * static_cast<double>(free), wanted));
}

void UploadRows(RowSource const& source, ColumnRange const& range, DeviceArena* arena, PieceStream* pieces, int threads,
                UseRows const& use) {
  std::size_t const columns = range.size();
  std::uint64_t const most = pieces->bytes() / sizeof(float) / columns;
  DeviceBuffer<float> device{arena, "rows on their way", most * columns};
  std::uint64_t first_row = 0, n = 0;
  auto const flush = [&](float const* piece) {
    CopyToDevice(device.data(), piece, n * columns, pieces->stream(), "copying rows to the device");
    pieces->Close();
    use(device.data(), first_row, n);
    first_row += n;
    n = 0;
  };
  float* piece = nullptr;  // is open while n is not 0
  source.ForEachBatch([&](RowBatch const& batch) {
    for (std::uint64_t row = 0; row < batch.rows();) {
      if (n == 0) piece = pieces->Open<float>();
      std::uint64_t const take = std::min(most - n, batch.rows() - row);
      PackRows(batch, row, take, range, piece + n * columns, threads);
      row += take;
      n += take;
      if (n == most) flush(piece);
    }
  });
  if (n != 0) flush(piece);
  pieces->Wait("copying rows to the device");
}

KeyColumns GatherColumns(RowSource const& source, ColumnRange const& range, DeviceArena* arena, PieceStream* pieces,
                         int threads) {
  std::uint64_t const rows = source.rows();
  KeyColumns result{range, rows, {arena, "columns in flight", range.size() * rows}, {}};
  DeviceBuffer<unsigned long long> missing{arena, "counts of columns", range.size()};
  FillBytes(missing.data(), 0, missing.size(), pieces->stream(), "clearing counts");
  UploadRows(source, range, arena, pieces, threads, [&](float const* piece, std::uint64_t first_row, std::uint64_t n) {
    TransposeToKeys(piece, n, range.size(), result.keys.data() + first_row, rows, missing.data(), pieces->stream());
  });
  std::vector<unsigned long long> counts(range.size());
  CopyToHost(counts.data(), missing.data(), counts.size(), pieces->stream(), "copying counts");
  pieces->Wait("counting values");
  for (unsigned long long const count : counts) result.present.push_back(rows - count);
  return result;
}

}  // namespace xgbgpu::cuda
