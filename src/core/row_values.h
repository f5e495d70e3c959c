/// Access of the host's stages to the values of a source: row by row from batches or an array, or column by column from
/// an array, in tiles that fit the cache. Values are floats; missing values are NaN.
#ifndef XGBGPU_CORE_ROW_VALUES_H_
#define XGBGPU_CORE_ROW_VALUES_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/hd.h"
#include "base/parallel.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Returns the array of a source, if the source is one array on the host.
inline std::optional<DenseValues> HostArray(RowSource const& source) {
  std::optional<DenseValues> const array = source.dense();
  return array && array->device == kHostMemory ? array : std::nullopt;
}

/// A row of an array.
template <typename T>
class ArrayRow {
 public:
  ArrayRow(T const* values, FeatureIndex features, float missing)
      : values_{values}, features_{features}, missing_{missing} {}

  float operator[](FeatureIndex f) const {
    auto const value = static_cast<float>(values_[f]);
    return value == missing_ ? std::numeric_limits<float>::quiet_NaN() : value;
  }
  FeatureIndex features() const { return features_; }
  /// Calls f(feature, value) for every value that is not missing.
  template <typename F>
  void ForEach(F&& f) const {
    for (FeatureIndex i = 0; i < features_; ++i) {
      float const value = (*this)[i];
      if (!std::isnan(value)) f(i, value);
    }
  }

 private:
  T const* values_;
  FeatureIndex features_;
  float missing_;
};

/// Adds 1 to counts[f - first] for every present feature f from `first` on. Returns the number of present features.
template <typename T>
std::uint64_t CountValues(ArrayRow<T> const& row, FeatureIndex first, Span<std::uint64_t> counts) {
  std::uint64_t present = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    auto const one = static_cast<std::uint64_t>(!std::isnan(row[first + static_cast<FeatureIndex>(i)]));
    counts[i] += one;
    present += one;
  }
  return present;
}

/// A row of a batch.
class EntryRow {
 public:
  explicit EntryRow(Span<Entry const> entries) : entries_{entries} {}

  Span<Entry const> entries() const { return entries_; }
  /// Calls f(feature, value) for every stored value that is not NaN, in stored order.
  template <typename F>
  void ForEach(F&& f) const {
    for (Entry const& e : entries_) {
      if (!std::isnan(e.value)) f(e.feature, e.value);
    }
  }

 private:
  Span<Entry const> entries_;
};

/// Rows of an array.
template <typename T>
class ArrayRows {
 public:
  ArrayRows(T const* values, FeatureIndex features, float missing)
      : values_{values}, features_{features}, missing_{missing} {}

  FeatureIndex features() const { return features_; }
  float missing() const { return missing_; }
  T const* row(std::size_t i) const { return values_ + i * features_; }
  ArrayRow<T> operator[](std::size_t i) const { return {row(i), features_, missing_}; }
  ArrayRows From(std::size_t i) const { return {row(i), features_, missing_}; }

 private:
  T const* values_;
  FeatureIndex features_;
  float missing_;
};

/// Calls f(rows) with all rows of an array, as ArrayRows of its type.
template <typename F>
decltype(auto) VisitRows(DenseValues const& array, FeatureIndex features, F&& f) {
  return VisitValues(array, [&](auto const* values) { return f(ArrayRows{values, features, array.missing}); });
}

/// Calls f(row in the whole matrix, its values, thread) for every row, in parallel, `grain` rows a task. The values are
/// an ArrayRow or an EntryRow.
template <typename F>
void ForEachRow(RowSource const& source, int threads, std::size_t grain, F&& f) {
  auto const in_parallel = [&](std::size_t rows, auto&& of_row) {
    ParallelTasks(threads, (rows + grain - 1) / grain, [&](std::size_t task, int thread) {
      for (std::size_t i = task * grain; i < std::min(rows, (task + 1) * grain); ++i) of_row(i, thread);
    });
  };
  if (auto const array = HostArray(source)) {
    VisitRows(*array, source.features(), [&](auto const& rows) {
      in_parallel(source.rows(), [&](std::size_t i, int thread) { f(std::uint64_t{i}, rows[i], thread); });
    });
    return;
  }
  source.ForEachBatch([&](RowBatch const& batch) {
    in_parallel(batch.rows(),
                [&](std::size_t i, int thread) { f(batch.first_row + i, EntryRow{batch.row(i)}, thread); });
  });
}

/// A few columns of a few rows, column by column. A row of the tile fills a cache line, and the tile fits the
/// first-level cache.
struct ColumnTile {
  static constexpr std::size_t kRows = 64;
  static constexpr FeatureIndex kColumns = 16;

  alignas(64) float values[kColumns][kRows];
};

/// Copies columns [first, first + columns) of `n` rows into a tile. All other values of the tile are unspecified.
template <typename T>
void LoadTile(ArrayRows<T> const& rows, std::size_t n, FeatureIndex first, FeatureIndex columns, ColumnTile* tile) {
  for (std::size_t r = 0; r < n; ++r) {
    T const* const from = rows.row(r) + first;
    for (FeatureIndex c = 0; c < columns; ++c) tile->values[c][r] = static_cast<float>(from[c]);
  }
  if (std::isnan(rows.missing())) return;
  for (FeatureIndex c = 0; c < columns; ++c) {
    for (float& value : tile->values[c]) {
      value = value == rows.missing() ? std::numeric_limits<float>::quiet_NaN() : value;
    }
  }
}

/// Calls f(feature, first row, number of rows, their values) for columns [first, last) of rows [begin, end), tile by
/// tile: at most ColumnTile::kRows rows a call. Inside a column the rows ascend.
template <typename T, typename F>
void ForEachColumnPart(ArrayRows<T> const& rows, std::size_t begin, std::size_t end, FeatureIndex first,
                       FeatureIndex last, F&& f) {
  ColumnTile tile{};
  for (std::size_t row = begin; row < end; row += ColumnTile::kRows) {
    std::size_t const n = std::min(ColumnTile::kRows, end - row);
    for (FeatureIndex strip = first; strip < last; strip += std::min(ColumnTile::kColumns, last - strip)) {
      FeatureIndex const columns = std::min(ColumnTile::kColumns, last - strip);
      LoadTile(rows.From(row), n, strip, columns, &tile);
      for (FeatureIndex c = 0; c < columns; ++c) f(strip + c, row, n, static_cast<float const*>(tile.values[c]));
    }
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_ROW_VALUES_H_
