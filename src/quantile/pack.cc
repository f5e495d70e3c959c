// Packs rows as floats and entries as sort keys.
#include "quantile/pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/float_bits.h"
#include "base/hd.h"
#include "base/parallel.h"
#include "quantile/feature_cuts.h"
#include "quantile/quantile_ops.h"

namespace xgbgpu {

namespace {

/// Copies the values of `columns` from row `begin` on, while a row has as many entries as features, and the entries of
/// `columns` are in order and finite. Returns the first other row, or `end`.
XGBGPU_VECTOR std::uint64_t CopyCompleteRows(std::uint64_t const* offsets, Entry const* entries, std::uint64_t begin,
                                             std::uint64_t end, ColumnRange const& columns, float* out) {
  FeatureIndex const first = columns.first, size = columns.size(), features = columns.features;
  for (std::uint64_t row = begin; row < end; ++row, out += size) {
    if (offsets[row + 1] - offsets[row] != features) return row;
    Entry const* const from = entries + offsets[row] + first;
    std::uint32_t wrong = 0;
    for (FeatureIndex f = 0; f < size; ++f) {
      std::uint32_t bits;
      std::memcpy(&bits, &from[f].value, sizeof(bits));
      wrong |= (from[f].feature ^ (first + f)) | static_cast<std::uint32_t>((bits & 0x7FFFFFFFU) == 0x7F800000U);
      out[f] = from[f].value;
    }
    if (wrong != 0) return row;
  }
  return end;
}

void PackAnyRow(std::uint64_t row, Span<Entry const> values, ColumnRange const& columns, float* out) {
  std::fill_n(out, columns.size(), std::numeric_limits<float>::quiet_NaN());
  bool ascending = true;
  std::uint64_t next = 0;
  for (Entry const& e : values) {
    if (std::isnan(e.value)) continue;
    if (e.feature >= columns.features || std::isinf(e.value)) ThrowBadValue(row, e, columns.features);
    ascending = ascending && e.feature >= next;
    next = e.feature + std::uint64_t{1};
    if (columns.has(e.feature)) out[e.feature - columns.first] = e.value;
  }
  if (!ascending) CheckEachFeatureOnce(row, values);
}

/// Calls f(row, entry) for the entries [begin, end) of a batch that are not NaN. `row` counts from the batch's first.
template <typename F>
void ForEachValue(RowBatch const& batch, std::uint64_t begin, std::uint64_t end, F&& f) {
  auto const after = std::upper_bound(batch.offsets.begin(), batch.offsets.end(), begin);
  auto row = static_cast<std::uint64_t>(after - batch.offsets.begin()) - 1;
  for (std::uint64_t i = begin; i < end; ++i) {
    while (batch.offsets[row + 1] <= i) ++row;
    Entry const& e = batch.entries[i];
    if (!std::isnan(e.value)) f(row, e);
  }
}

}  // namespace

void PackRows(RowBatch const& batch, std::uint64_t begin, std::uint64_t n, ColumnRange const& columns, float* out,
              int threads) {
  std::uint64_t const grain = std::max<std::uint64_t>(1, (1 << 14) / columns.size());
  ParallelChunks(threads, n, grain, [&](std::size_t chunk_begin, std::size_t chunk_end) {
    std::uint64_t row = begin + chunk_begin, end = begin + chunk_end;
    while (row < end) {
      float* const to = out + (row - begin) * columns.size();
      std::uint64_t const next = CopyCompleteRows(batch.offsets.data(), batch.entries.data(), row, end, columns, to);
      row = next;
      if (row < end) {
        PackAnyRow(batch.first_row + row, batch.row(row), columns, out + (row - begin) * columns.size());
        ++row;
      }
    }
  });
}

std::size_t PackPairs(RowBatch const& batch, std::uint64_t begin, std::uint64_t n, ColumnRange const& columns,
                      Span<float const> weights_of_rows, std::uint64_t* keys, float* weights, int threads) {
  constexpr std::uint64_t kGrain = 1 << 14;
  std::size_t const tasks = (n + kGrain - 1) / kGrain;
  std::vector<std::size_t> place(tasks + 1);
  auto const for_each_value = [&](std::size_t task, auto&& f) {
    ForEachValue(batch, begin + task * kGrain, begin + std::min(n, (task + 1) * kGrain), f);
  };
  ParallelTasks(threads, tasks, [&](std::size_t task, int) {
    std::size_t count = 0;
    for_each_value(task, [&](std::uint64_t row, Entry const& e) {
      if (e.feature >= columns.features || std::isinf(e.value)) {
        ThrowBadValue(batch.first_row + row, e, columns.features);
      }
      count += columns.has(e.feature) ? 1 : 0;
    });
    place[task + 1] = count;
  });
  for (std::size_t task = 0; task < tasks; ++task) place[task + 1] += place[task];
  ParallelTasks(threads, tasks, [&](std::size_t task, int) {
    std::size_t to = place[task];
    for_each_value(task, [&](std::uint64_t row, Entry const& e) {
      if (!columns.has(e.feature)) return;
      std::uint32_t key = AscendingKey(e.value);
      if (!weights_of_rows.empty()) {
        float const weight = weights_of_rows[batch.first_row + row];
        if (weight == 0.0f) key = kNoKey;
        weights[to] = weight;
      }
      keys[to++] = (std::uint64_t{e.feature - columns.first} << 32) | key;
    });
  });
  return place[tasks];
}

}  // namespace xgbgpu
