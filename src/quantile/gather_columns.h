/// Gathers the columns of rows on the host, a group of columns at a time.
#ifndef XGBGPU_QUANTILE_GATHER_COLUMNS_H_
#define XGBGPU_QUANTILE_GATHER_COLUMNS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "core/row_values.h"
#include "quantile/columns.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Columns [first, last) whose values fit the budget, or one column that does not.
struct ColumnGroup {
  FeatureIndex first;
  FeatureIndex last;
  std::vector<std::uint64_t> start;  ///< [last - first + 1] offset of each column's values in the buffer
};

/// counts[chunk · features + f]: number of values of feature first+f in the chunk's rows. Chunks are equal runs of
/// rows.
class ChunkCounts {
 public:
  ChunkCounts(int chunks, FeatureIndex features)
      : chunks_{static_cast<std::size_t>(chunks)}, features_{features}, counts_(chunks_ * features) {}

  std::size_t chunks() const { return chunks_; }
  std::uint64_t* chunk(std::size_t c) { return counts_.data() + c * features_; }
  void Clear() { std::fill(counts_.begin(), counts_.end(), 0); }

  /// Replaces counts by the first position of each chunk's values in the column, after `next[f]` values, and moves
  /// next[f] past them.
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

/// Calls f(chunk, row index in the batch, entry) for every stored value of columns [first, last) that is not NaN.
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

/// Makes groups of columns of `most` values each, by the columns' `largest` sizes in any shard, with places by the
/// `sizes` in this shard.
inline std::vector<ColumnGroup> MakeColumnGroups(std::vector<std::uint64_t> const& sizes,
                                                 std::vector<std::uint64_t> const& largest,
                                                 std::uint64_t most = kColumnBufferValues) {
  std::vector<ColumnGroup> groups;
  auto const features = static_cast<FeatureIndex>(sizes.size());
  for (FeatureIndex f = 0; f < features;) {
    ColumnGroup group{f, f, {0}};
    std::uint64_t values = 0;
    do {
      values += largest[group.last];
      group.start.push_back(group.start.back() + sizes[group.last++]);
    } while (group.last < features && values + largest[group.last] <= most);
    f = group.last;
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Gathers a group from an array of `n` rows. complete: the group has no missing values. Writes a tile's part of a
/// column at once, because a change of column for every value would be slow.
template <typename T, typename Values, typename Make>
void GatherGroup(ArrayRows<Values> const& rows, std::uint64_t n, ColumnGroup const& group, bool complete, int threads,
                 Span<T> out, Make&& make) {
  ChunkCounts next{threads, group.last - group.first};
  auto const begin = [&](std::size_t chunk) { return n * chunk / next.chunks(); };
  ParallelTasks(threads, next.chunks(), [&](std::size_t c, int) {
    Span<std::uint64_t> const counts{next.chunk(c), group.last - group.first};
    if (complete) {
      std::fill(counts.begin(), counts.end(), begin(c + 1) - begin(c));
    } else {
      for (std::size_t i = begin(c); i < begin(c + 1); ++i) CountValues(rows[i], group.first, counts);
    }
  });
  std::vector<std::uint64_t> starts(group.start.begin(), group.start.end() - 1);
  next.ToPositions(&starts);
  ParallelTasks(threads, next.chunks(), [&](std::size_t c, int) {
    ForEachColumnPart(rows, begin(c), begin(c + 1), group.first, group.last,
                      [&](FeatureIndex f, std::size_t row, std::size_t part_rows, float const* values) {
                        T made[ColumnTile::kRows];
                        std::size_t present = 0;
                        for (std::size_t r = 0; r < part_rows; ++r) {
                          made[present] = make(row + r, values[r]);
                          present += static_cast<std::size_t>(!std::isnan(values[r]));
                        }
                        std::uint64_t& to = next.chunk(c)[f - group.first];
                        std::copy_n(made, present, out.data() + to);
                        to += present;
                      });
  });
}

/// Writes make(row, value) for every value of the group, column after column; inside a column the rows ascend.
template <typename T, typename Make>
void GatherGroup(RowSource const& source, ColumnGroup const& group, int threads, Span<T> out, Make&& make) {
  // Without missing values a row is the place of its value.
  bool const complete = group.start.back() == source.rows() * (group.last - group.first);
  if (auto const array = HostArray(source)) {
    VisitRows(*array, source.features(),
              [&](auto const& rows) { GatherGroup(rows, source.rows(), group, complete, threads, out, make); });
    return;
  }
  if (complete) {
    source.ForEachBatch([&](RowBatch const& batch) {
      ForEachValue(batch, group.first, group.last, static_cast<std::size_t>(threads), threads,
                   [&](std::size_t, std::size_t i, Entry e) {
                     std::uint64_t const row = batch.first_row + i;
                     out[group.start[e.feature - group.first] + row] = make(row, e.value);
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
      out[counts.chunk(c)[e.feature - group.first]++] = make(batch.first_row + i, e.value);
    });
  });
}

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_GATHER_COLUMNS_H_
