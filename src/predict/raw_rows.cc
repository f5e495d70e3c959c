// Packs runs of rows into dense rows or sparse entries.
#include "predict/raw_rows.h"

#include <algorithm>
#include <limits>

#include "base/hd.h"
#include "base/message.h"
#include "base/parallel.h"

namespace xgbgpu {

namespace {

[[noreturn]] void ThrowNoSuchFeature(std::uint64_t row, FeatureIndex feature, FeatureIndex features) {
  Throw<InvalidArgument>("Row ", row, " has a value of feature ", feature, "; the data have features 0 to ",
                         std::int64_t{features} - 1);
}

/// Copies rows from `begin` on that store all values in order. Returns the first other row, or `end`.
XGBGPU_VECTOR std::uint64_t CopyCompleteRows(std::uint64_t const* offsets, Entry const* entries, std::uint64_t begin,
                                             std::uint64_t end, FeatureIndex features, float* out) {
  for (std::uint64_t row = begin; row < end; ++row, out += features) {
    if (offsets[row + 1] - offsets[row] != features) return row;
    Entry const* const from = entries + offsets[row];
    std::uint32_t wrong = 0;
    for (FeatureIndex f = 0; f < features; ++f) {
      wrong |= from[f].feature ^ f;
      out[f] = from[f].value;
    }
    if (wrong != 0) return row;
  }
  return end;
}

void PackAnyRow(std::uint64_t row, Span<Entry const> values, FeatureIndex features, float* out) {
  std::fill_n(out, features, std::numeric_limits<float>::quiet_NaN());
  for (Entry const& e : values) {
    if (e.feature >= features) ThrowNoSuchFeature(row, e.feature, features);
    out[e.feature] = e.value;
  }
}

}  // namespace

void ForEachRun(RowSource const& source, std::uint64_t rows, std::uint64_t values,
                std::function<void(RowRun const&)> const& use) {
  source.ForEachBatch([&](RowBatch const& batch) {
    for (std::uint64_t row = 0; row < batch.rows();) {
      std::uint64_t const most = std::min(batch.rows(), row + rows);
      auto const* const offsets = batch.offsets.data();
      auto const* const after =
          std::upper_bound(offsets + row + 2, offsets + most + 1,
                           offsets[row] + std::min(values, std::numeric_limits<std::uint64_t>::max() - offsets[row]));
      std::uint64_t const end = static_cast<std::uint64_t>(after - offsets) - 1;
      use({&batch, row, end - row});
      row = end;
    }
  });
}

void PackDenseRows(RowRun const& run, FeatureIndex features, float* out, int threads) {
  std::uint64_t const grain = std::max<std::uint64_t>(1, (1 << 14) / std::max<FeatureIndex>(1, features));
  RowBatch const& batch = *run.batch;
  ParallelChunks(threads, run.n, grain, [&](std::size_t chunk_begin, std::size_t chunk_end) {
    std::uint64_t const end = run.begin + chunk_end;
    for (std::uint64_t row = run.begin + chunk_begin; row < end; ++row) {
      float* const to = out + (row - run.begin) * features;
      row = CopyCompleteRows(batch.offsets.data(), batch.entries.data(), row, end, features, to);
      if (row == end) break;
      PackAnyRow(batch.first_row + row, batch.row(row), features, out + (row - run.begin) * features);
    }
  });
}

void PackSparseRows(RowRun const& run, FeatureIndex features, std::uint64_t first_entry, std::uint64_t* row_ptr,
                    Entry* entries, int threads) {
  constexpr std::size_t kGrain = 1 << 9;  // rows per task
  RowBatch const& batch = *run.batch;
  std::uint64_t const base = batch.offsets[run.begin];
  auto const by_feature = [](Entry const& a, Entry const& b) { return a.feature < b.feature; };
  row_ptr[0] = first_entry;
  ParallelChunks(threads, run.n, kGrain, [&](std::size_t chunk_begin, std::size_t chunk_end) {
    for (std::uint64_t i = chunk_begin; i < chunk_end; ++i) {
      Span<Entry const> const row = batch.row(run.begin + i);
      Entry* const to = entries + (batch.offsets[run.begin + i] - base);
      Entry* const end = std::copy(row.begin(), row.end(), to);
      if (!std::is_sorted(to, end, by_feature)) std::stable_sort(to, end, by_feature);
      if (to != end && (end - 1)->feature >= features) {
        ThrowNoSuchFeature(run.first_row() + i, (end - 1)->feature, features);
      }
      row_ptr[i + 1] = first_entry + static_cast<std::uint64_t>(end - entries);
    }
  });
}

}  // namespace xgbgpu
