// Sorts columns on the host, group by group, and joins equal values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/buffer.h"
#include "base/float_bits.h"
#include "base/parallel.h"
#include "quantile/columns.h"
#include "quantile/feature_cuts.h"
#include "quantile/gather_columns.h"
#include "quantile/quantile_ops.h"
#include "quantile/radix_sort.h"

namespace xgbgpu::host {

namespace {

/// One value of a weighted column.
struct WeightedKey {
  std::uint32_t key;
  float weight;
};

std::uint32_t KeyOf(std::uint32_t key) { return key; }
std::uint32_t KeyOf(WeightedKey const& item) { return item.key; }

/// A sorted column after equal values are joined.
struct Compressed {
  Span<std::uint32_t const> keys;
  CumulativeWeights cumulative;
};

/// Joins equal keys of `sorted` and drops items of weight 0. The keys overwrite `sorted` itself, where writes never
/// overtake reads. The cumulative weights overwrite `other`, the second array of the sort.
template <typename T, typename WeightOf>
Compressed Compress(Span<T> sorted, Span<T> other, WeightOf&& weight_of) {
  using Sum = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::int64_t>;
  static_assert(sizeof(Sum) <= sizeof(T));
  auto* const keys = reinterpret_cast<std::uint32_t*>(sorted.data());  // written by memcpy: items are still read here
  auto* const cumulative = reinterpret_cast<Sum*>(other.data());
  std::size_t distinct = 0;
  Sum sum = 0;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    T const item = sorted[i];
    Sum const weight = weight_of(item);
    if (weight == 0) continue;
    sum += weight;
    if (distinct == 0 || KeyOf(item) != last) {
      last = KeyOf(item);
      std::memcpy(keys + distinct++, &last, sizeof(last));
    }
    cumulative[distinct - 1] = sum;
  }
  return {{keys, distinct}, CumulativeWeights{cumulative}};
}

/// Returns groups of columns that fit every shard's budget, with the places of this shard's values.
std::vector<ColumnGroup> AgreeOnGroups(std::vector<std::uint64_t> const& sizes, std::uint64_t most,
                                       Collective& collective) {
  std::vector<std::int64_t> largest(sizes.begin(), sizes.end());
  collective.Max(Span<std::int64_t>{largest});
  return MakeColumnGroups(sizes, {largest.begin(), largest.end()}, most);
}

/// Sorts the columns of a group and visits them.
template <typename T, typename WeightOf>
void SortGroup(ColumnGroup const& group, Span<T> values, int threads, std::vector<Buffer<T>>* scratch,
               WeightOf&& weight_of, std::function<void(SortedColumn const&)> const& visit) {
  std::size_t const columns = group.last - group.first;
  constexpr std::size_t kTasksPerThread = 32;
  std::size_t const tasks = std::min(columns, kTasksPerThread * static_cast<std::size_t>(threads));
  ParallelTasks(threads, tasks, [&](std::size_t task, int thread) {
    auto& own = (*scratch)[static_cast<std::size_t>(thread)];
    for (std::size_t c = columns * task / tasks; c < columns * (task + 1) / tasks; ++c) {
      std::size_t const size = group.start[c + 1] - group.start[c];
      own.Reserve(size);
      Span<T> const column{values.data() + group.start[c], size}, free{own.data(), size};
      Span<T> const sorted = RadixSort(column, free, [](T const& item) { return KeyOf(item); });
      Compressed const joined = Compress(sorted, sorted.data() == column.data() ? free : column, weight_of);
      visit({group.first + static_cast<FeatureIndex>(c), size, joined.keys, joined.cumulative});
    }
  });
}

template <typename T, typename Make, typename WeightOf>
void SortGroups(RowSource const& source, int threads, Collective& collective, Make&& make, WeightOf&& weight_of,
                std::function<void(SortedColumn const&)> const& visit,
                std::function<void(FeatureIndex, FeatureIndex)> const& group_done, SortWorkspace const& workspace) {
  std::vector<std::uint64_t> sizes = workspace.sizes;
  if (sizes.empty()) AllOrNone(collective, [&] { sizes = CountColumns(source, threads); });
  Buffer<T> values;
  int const sorters = std::min(threads, workspace.columns);
  std::vector<Buffer<T>> scratch(static_cast<std::size_t>(sorters));
  for (ColumnGroup const& group : AgreeOnGroups(sizes, workspace.values, collective)) {
    AllOrNone(collective, [&] {
      values.Reserve(group.start.back());
      GatherGroup<T>(source, group, threads, values.span(), make);
      SortGroup(group, values.span(), sorters, &scratch, weight_of, visit);
    });
    if (group_done) group_done(group.first, group.last);
  }
}

}  // namespace

std::vector<std::uint64_t> CountColumns(RowSource const& source, int threads) {
  FeatureIndex const features = source.features();
  std::vector<std::uint64_t> total(features);
  ChunkCounts counts{threads, features};
  if (auto const array = HostArray(source)) {
    VisitRows(*array, features, [&](auto const& rows) {
      std::uint64_t const n = source.rows(), chunks = counts.chunks();
      ParallelTasks(threads, chunks, [&](std::size_t c, int) {
        for (std::size_t i = n * c / chunks; i < n * (c + 1) / chunks; ++i) {
          CountValues(rows[i], 0, {counts.chunk(c), features});
        }
      });
    });
    counts.ToPositions(&total);
    return total;
  }
  source.ForEachBatch([&](RowBatch const& batch) {
    constexpr std::uint64_t kAny = std::uint64_t{1} << 32;
    ForEachValue(batch, 0, kAny, counts.chunks(), threads, [&](std::size_t c, std::size_t i, Entry e) {
      if (e.feature >= features || std::isinf(e.value)) ThrowBadValue(batch.first_row + i, e, features);
      ++counts.chunk(c)[e.feature];
    });
  });
  counts.ToPositions(&total);
  return total;
}

void ForEachSortedColumn(RowSource const& source, RowWeights const& weights, int threads, Collective& collective,
                         std::function<void(SortedColumn const&)> const& visit,
                         std::function<void(FeatureIndex, FeatureIndex)> const& group_done,
                         SortWorkspace const& workspace) {
  if (weights.of_rows.empty()) {
    SortGroups<std::uint32_t>(
        source, threads, collective, [](std::uint64_t, float value) { return AscendingKey(value); },
        [](std::uint32_t) { return std::uint32_t{1}; }, visit, group_done, workspace);
    return;
  }
  SortGroups<WeightedKey>(
      source, threads, collective,
      [&](std::uint64_t row, float value) {
        return WeightedKey{AscendingKey(value), weights.of_rows[row]};
      },
      [&](WeightedKey const& item) { return IntegerWeight(item.weight, weights.scale); }, visit, group_done, workspace);
}

}  // namespace xgbgpu::host
