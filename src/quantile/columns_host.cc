#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/buffer.h"
#include "core/parallel.h"
#include "quantile/columns.h"
#include "quantile/feature_cuts.h"
#include "quantile/quantile_ops.h"
#include "quantile/radix_sort.h"

namespace xgbgpu::host {

namespace {

/// Columns [first, last) whose values fit the budget, or one column that does not.
struct ColumnGroup {
  FeatureIndex first;
  FeatureIndex last;
  std::vector<std::uint64_t> start;  ///< [last - first + 1] where each column's values start in the buffer
};

/// counts[chunk · features + f]: values of feature first+f in the chunk's rows. Chunks are equal runs of rows.
class ChunkCounts {
 public:
  ChunkCounts(int chunks, FeatureIndex features)
      : chunks_{static_cast<std::size_t>(chunks)}, features_{features}, counts_(chunks_ * features) {}

  std::size_t chunks() const { return chunks_; }
  std::uint64_t* chunk(std::size_t c) { return counts_.data() + c * features_; }
  void Clear() { std::fill(counts_.begin(), counts_.end(), 0); }

  /// Counts → first position of each chunk's values in the column, after `next[f]` values; moves next[f] past them.
  void ToPositions(std::vector<std::uint64_t>* next) {
    for (std::size_t f = 0; f < features_; ++f) {
      for (std::size_t c = 0; c < chunks_; ++c) (*next)[f] += std::exchange(chunk(c)[f], (*next)[f]);
    }
  }

 private:
  std::size_t chunks_;
  std::size_t features_;
  std::vector<std::uint64_t> counts_;
};

/// f(chunk, row index in the batch, entry) for every stored value of the columns [first, last) that is not NaN.
template <typename F>
void ForEachValue(RowBatch const& batch, std::uint64_t first, std::uint64_t last, std::size_t chunks, int threads,
                  F&& f) {
  std::size_t const rows = batch.rows();
  ParallelTasks(threads, chunks, [&](std::size_t c, int) {
    for (std::size_t i = rows * c / chunks; i < rows * (c + 1) / chunks; ++i) {
      for (Entry const& e : batch.row(i)) {
        if (e.feature >= first && e.feature < last && !std::isnan(e.value)) f(c, i, e);
      }
    }
  });
}

std::vector<ColumnGroup> MakeGroups(std::vector<std::uint64_t> const& sizes) {
  std::vector<ColumnGroup> groups;
  auto const features = static_cast<FeatureIndex>(sizes.size());
  for (FeatureIndex f = 0; f < features;) {
    ColumnGroup group{f, f, {0}};
    do {
      group.start.push_back(group.start.back() + sizes[group.last++]);
    } while (group.last < features && group.start.back() + sizes[group.last] <= kColumnBufferValues);
    f = group.last;
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Writes make(row, entry) for every value of the group, column after column. The order inside a column is by chunk.
template <typename T, typename Make>
void GatherGroup(RowSource const& source, ColumnGroup const& group, int threads, Span<T> out, Make&& make) {
  if (group.start.back() == source.rows() * (group.last - group.first)) {  // nothing is missing: places are known
    source.ForEachBatch([&](RowBatch const& batch) {
      ForEachValue(batch, group.first, group.last, static_cast<std::size_t>(threads), threads,
                   [&](std::size_t, std::size_t i, Entry e) {
                     std::uint64_t const row = batch.first_row + i;
                     out[group.start[e.feature - group.first] + row] = make(row, e);
                   });
    });
    return;
  }
  ChunkCounts counts{threads, group.last - group.first};
  std::vector<std::uint64_t> next(group.start.begin(), group.start.end() - 1);
  source.ForEachBatch([&](RowBatch const& batch) {
    counts.Clear();
    ForEachValue(batch, group.first, group.last, counts.chunks(), threads,
                 [&](std::size_t c, std::size_t, Entry e) { ++counts.chunk(c)[e.feature - group.first]; });
    counts.ToPositions(&next);
    ForEachValue(batch, group.first, group.last, counts.chunks(), threads, [&](std::size_t c, std::size_t i, Entry e) {
      out[counts.chunk(c)[e.feature - group.first]++] = make(batch.first_row + i, e);
    });
  });
}

/// One value of a weighted column.
struct WeightedKey {
  std::uint32_t key;
  float weight;
};

std::uint32_t KeyOf(std::uint32_t key) { return key; }
std::uint32_t KeyOf(WeightedKey const& item) { return item.key; }

/// What is left of a column when its values are sorted and equal ones joined.
struct Compressed {
  Span<std::uint32_t const> keys;
  CumulativeWeights cumulative;
};

/// Joins equal keys of `sorted` and leaves out items of weight 0. Keys and cumulative weights are written over the two
/// arrays that sorting leaves: `sorted` itself, where writing never overtakes reading, and `other`, which is free.
template <typename T, typename WeightOf>
Compressed Compress(Span<T> sorted, Span<T> other, WeightOf&& weight_of) {
  using Sum = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::int64_t>;
  static_assert(sizeof(Sum) <= sizeof(T));
  auto* const keys = reinterpret_cast<std::uint32_t*>(sorted.data());
  auto* const cumulative = reinterpret_cast<Sum*>(other.data());
  std::size_t distinct = 0;
  Sum sum = 0;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    T const item = sorted[i];
    Sum const weight = weight_of(item);
    if (weight == 0) continue;
    sum += weight;
    if (distinct == 0 || KeyOf(item) != last) keys[distinct++] = last = KeyOf(item);
    cumulative[distinct - 1] = sum;
  }
  return {{keys, distinct}, CumulativeWeights{cumulative}};
}

template <typename T, typename Make, typename WeightOf>
void SortGroups(RowSource const& source, int threads, Make&& make, WeightOf&& weight_of,
                std::function<void(SortedColumn const&)> const& visit) {
  auto const sizes = CountColumns(source, threads);
  Buffer<T> values;
  std::vector<Buffer<T>> scratch(static_cast<std::size_t>(threads));
  for (ColumnGroup const& group : MakeGroups(sizes)) {
    values.Reserve(group.start.back());
    GatherGroup<T>(source, group, threads, values.span(), make);
    std::size_t const columns = group.last - group.first;
    constexpr std::size_t kTasksPerThread = 32;
    std::size_t const tasks = std::min(columns, kTasksPerThread * static_cast<std::size_t>(threads));
    ParallelTasks(threads, tasks, [&](std::size_t task, int thread) {
      auto& own = scratch[static_cast<std::size_t>(thread)];
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
}

}  // namespace

std::vector<std::uint64_t> CountColumns(RowSource const& source, int threads) {
  FeatureIndex const features = source.features();
  std::vector<std::uint64_t> total(features);
  ChunkCounts counts{threads, features};
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

void ForEachSortedColumn(RowSource const& source, Span<float const> weights, int threads,
                         std::function<void(SortedColumn const&)> const& visit) {
  if (weights.empty()) {
    SortGroups<std::uint32_t>(
        source, threads, [](std::uint64_t, Entry e) { return SortKey(e.value); },
        [](std::uint32_t) { return std::uint32_t{1}; }, visit);
    return;
  }
  double const scale = WeightScale(weights);
  SortGroups<WeightedKey>(
      source, threads,
      [&](std::uint64_t row, Entry e) {
        return WeightedKey{SortKey(e.value), weights[row]};
      },
      [=](WeightedKey const& item) { return RoundToNearest(item.weight, scale); }, visit);
}

}  // namespace xgbgpu::host
