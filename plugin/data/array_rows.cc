// Rows of dense and CSR arrays, read where the arrays lie.
#include "data/array_rows.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/message.h"
#include "base/parallel.h"
#include "data/array_view.h"

namespace xgbgpu::plugin {

namespace {

constexpr std::uint64_t kBatchValues = 1 << 21;  // 16 MiB of entries

/// Replaces the values that mean "missing" by NaN.
struct Missing {
  float mark;
  float operator()(float value) const { return value == mark ? std::numeric_limits<float>::quiet_NaN() : value; }
};

/// Rows of a dense array: every row stores every column.
class DenseRows final : public RowSource {
 public:
  DenseRows(ArrayView values, float missing, int threads)
      : values_{std::move(values)}, missing_{missing}, threads_{threads} {}

  std::uint64_t rows() const override { return static_cast<std::uint64_t>(values_.shape[0]); }
  FeatureIndex features() const override { return static_cast<FeatureIndex>(values_.shape[1]); }
  /// An array of float32 whose values follow one another is read as it is.
  std::optional<DenseValues> dense() const override {
    constexpr std::int64_t kBytes = sizeof(float);
    if (values_.type != "f4" || values_.strides[1] != kBytes || values_.strides[0] != values_.shape[1] * kBytes) {
      return std::nullopt;
    }
    return DenseValues{values_.data, ValueType::kFloat32, missing_.mark};
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    std::uint64_t const columns = features();
    std::uint64_t const most = std::min(rows(), std::max<std::uint64_t>(1, kBatchValues / columns));
    std::vector<std::uint64_t> offsets(most + 1);
    for (std::uint64_t i = 0; i <= most; ++i) offsets[i] = i * columns;
    std::vector<Entry> entries(most * columns);
    for (std::uint64_t first = 0; first < rows(); first += most) {
      std::uint64_t const n = std::min(most, rows() - first);
      WithType(values_.type, [&](auto type) { Fill<decltype(type)>(first, n, entries.data()); });
      visit({first, {offsets.data(), n + 1}, {entries.data(), n * columns}});
    }
  }

 private:
  template <typename T>
  void Fill(std::uint64_t first, std::uint64_t n, Entry* entries) const {
    FeatureIndex const columns = features();
    std::size_t const grain = std::max<std::size_t>(1, (1 << 14) / columns);
    ParallelChunks(threads_, n, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        std::int64_t const row = static_cast<std::int64_t>(first + i) * values_.strides[0];
        Entry* const to = entries + i * columns;
        for (FeatureIndex f = 0; f < columns; ++f) {
          to[f] = {f, missing_(static_cast<float>(values_.Read<T>(row + f * values_.strides[1])))};
        }
      }
    });
  }

  ArrayView values_;
  Missing missing_;
  int threads_;
};

/// Rows of a table by columns: every row stores every column.
class ColumnRows final : public RowSource {
 public:
  ColumnRows(std::vector<ColumnView> columns, float missing, int threads)
      : columns_{std::move(columns)}, missing_{missing}, threads_{threads} {}

  std::uint64_t rows() const override { return static_cast<std::uint64_t>(columns_[0].values.shape[0]); }
  FeatureIndex features() const override { return static_cast<FeatureIndex>(columns_.size()); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    std::uint64_t const most = std::min(rows(), std::max<std::uint64_t>(1, kBatchValues / columns_.size()));
    std::vector<std::uint64_t> offsets(most + 1);
    for (std::uint64_t i = 0; i <= most; ++i) offsets[i] = i * columns_.size();
    std::vector<Entry> entries(most * columns_.size());
    for (std::uint64_t first = 0; first < rows(); first += most) {
      std::uint64_t const n = std::min(most, rows() - first);
      ParallelChunks(threads_, n, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (FeatureIndex f = 0; f < features(); ++f) FillColumn(f, first, {begin, end}, entries.data());
      });
      visit({first, {offsets.data(), n + 1}, {entries.data(), n * columns_.size()}});
    }
  }

 private:
  static constexpr std::size_t kTileRows = 64;

  /// Fills the entries of a column, of rows from `first` on.
  void FillColumn(FeatureIndex f, std::uint64_t first, std::pair<std::size_t, std::size_t> rows, Entry* entries) const {
    ColumnView const& column = columns_[f];
    WithType(column.values.type, [&](auto type) {
      for (std::size_t i = rows.first; i < rows.second; ++i) {
        std::size_t const row = first + i;
        auto const offset = static_cast<std::int64_t>(row) * column.values.strides[0];
        float const value = column.has(row) ? static_cast<float>(column.values.Read<decltype(type)>(offset))
                                            : std::numeric_limits<float>::quiet_NaN();
        entries[i * columns_.size() + f] = {f, missing_(value)};
      }
    });
  }

  std::vector<ColumnView> columns_;
  Missing missing_;
  int threads_;
};

/// Rows of arrays in CSR form.
class CsrRows final : public RowSource {
 public:
  CsrRows(ArrayView indptr, ArrayView indices, ArrayView values, FeatureIndex columns, float missing, int threads)
      : indptr_{std::move(indptr)},
        indices_{std::move(indices)},
        values_{std::move(values)},
        columns_{columns},
        missing_{missing},
        threads_{threads} {}

  std::uint64_t rows() const override { return static_cast<std::uint64_t>(indptr_.shape[0] - 1); }
  FeatureIndex features() const override { return columns_; }
  /// Returns true if columns ascend in every row. Values are not looked at. Throws as ForEachBatch does, for rows up to
  /// the first whose columns do not ascend.
  bool Ascend() const {
    bool ascend = true;
    auto const given = ReadOffsets();
    WithType(indices_.type, [&](auto type) {
      std::uint64_t begin = given[0];
      for (std::uint64_t row = 0; row < rows() && ascend; ++row) {
        std::uint64_t const end = EndOf(given, row, begin);
        std::uint64_t before = 0;
        for (std::uint64_t i = begin; i < end; ++i) {
          auto const column = static_cast<std::uint64_t>(indices_.Read<decltype(type)>(At(indices_, i)));
          CheckColumn(i, column);
          ascend = ascend && before <= column;
          before = column;
        }
        begin = end;
      }
    });
    return ascend;
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    auto const given = ReadOffsets();
    std::vector<std::uint64_t> offsets;
    std::vector<Entry> entries;
    for (std::uint64_t first = 0; first < rows();) {
      std::uint64_t const begin = given[first];
      offsets.assign(1, 0);
      while (first + offsets.size() - 1 < rows() && offsets.back() < kBatchValues) {
        offsets.push_back(EndOf(given, first + offsets.size() - 1, begin + offsets.back()) - begin);
      }
      entries.resize(offsets.back());
      WithType(values_.type, [&](auto type) { Fill<decltype(type)>(begin, &entries); });
      visit({first, {offsets.data(), offsets.size()}, {entries.data(), entries.size()}});
      first += offsets.size() - 1;
    }
  }

 private:
  static std::int64_t At(ArrayView const& array, std::uint64_t i) {
    return static_cast<std::int64_t>(i) * array.strides[0];
  }

  /// [rows + 1] as they were given: EndOf checks them.
  std::vector<std::uint64_t> ReadOffsets() const {
    std::vector<std::uint64_t> offsets(static_cast<std::size_t>(indptr_.shape[0]));
    WithType(indptr_.type, [&](auto type) {
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        offsets[i] = static_cast<std::uint64_t>(indptr_.Read<decltype(type)>(At(indptr_, i)));
      }
    });
    return offsets;
  }

  /// Returns where the row ends that begins at value `begin`.
  std::uint64_t EndOf(std::vector<std::uint64_t> const& given, std::uint64_t row, std::uint64_t begin) const {
    std::uint64_t const end = given[row + 1];
    if (end < begin || end > static_cast<std::uint64_t>(values_.shape[0])) {
      Throw<InvalidArgument>("Row ", row, " of a CSR matrix ends at value ", static_cast<std::int64_t>(end),
                             " (indptr); allowed: ends that never decrease, at most ", values_.shape[0]);
    }
    return end;
  }
  void CheckColumn(std::uint64_t value, std::uint64_t column) const {
    if (column < columns_) return;
    Throw<InvalidArgument>("Value ", value, " of a CSR matrix has the column ", static_cast<std::int64_t>(column),
                           "; allowed: 0 to ", std::int64_t{columns_} - 1);
  }
  template <typename T>
  void Fill(std::uint64_t begin, std::vector<Entry>* entries) const {
    WithType(indices_.type, [&](auto type) {
      using Index = decltype(type);
      ParallelChunks(threads_, entries->size(), 1 << 14, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          auto const column = static_cast<std::uint64_t>(indices_.Read<Index>(At(indices_, begin + i)));
          CheckColumn(begin + i, column);
          auto const value = static_cast<float>(values_.Read<T>(At(values_, begin + i)));
          (*entries)[i] = {static_cast<FeatureIndex>(column), missing_(value)};
        }
      });
    });
  }

  ArrayView indptr_;
  ArrayView indices_;
  ArrayView values_;
  FeatureIndex columns_;
  Missing missing_;
  int threads_;
};

}  // namespace

namespace {

constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();

std::unique_ptr<CsrRows> MakeCsrRows(InPlaceArrays const& arrays, float missing, int threads) {
  auto values = ParseArray(arrays.values, 1), indptr = ParseArray(arrays.indptr, 1),
       indices = ParseArray(arrays.indices, 1);
  if (!values || !indptr || !indices) return nullptr;
  if (!HasKnownType(*values) || !HasKnownType(*indptr) || !HasKnownType(*indices)) return nullptr;
  if (indptr->shape[0] < 2 || indices->shape[0] != values->shape[0]) return nullptr;
  if (arrays.columns == 0 || arrays.columns > static_cast<std::uint64_t>(kMostColumns)) return nullptr;
  return std::make_unique<CsrRows>(std::move(*indptr), std::move(*indices), std::move(*values),
                                   static_cast<FeatureIndex>(arrays.columns), missing, threads);
}

}  // namespace

std::unique_ptr<RowSource> MakeArrayRows(InPlaceArrays const& arrays, float missing, int threads) {
  if (arrays.indptr != nullptr) return MakeCsrRows(arrays, missing, threads);
  if (arrays.by_columns) {
    auto columns = ParseColumns(arrays.values);
    bool const has_rows = columns && !columns->empty() && (*columns)[0].values.shape[0] != 0;
    if (!has_rows || columns->size() > static_cast<std::size_t>(kMostColumns)) return nullptr;
    return std::make_unique<ColumnRows>(std::move(*columns), missing, threads);
  }
  auto values = ParseArray(arrays.values, 2);
  if (!values || !HasKnownType(*values)) return nullptr;
  if (values->shape[0] == 0 || values->shape[1] == 0 || values->shape[1] > kMostColumns) return nullptr;
  return std::make_unique<DenseRows>(std::move(*values), missing, threads);
}

AscendingRows::AscendingRows(RowSource const& rows) {
  rows.ForEachBatch([&](RowBatch const& batch) {
    for (std::size_t row = 0; row + 1 < batch.offsets.size(); ++row) {
      std::vector<Entry> entries(batch.entries.data() + batch.offsets[row],
                                 batch.entries.data() + batch.offsets[row + 1]);
      std::stable_sort(entries.begin(), entries.end(),
                       [](Entry const& a, Entry const& b) { return a.feature < b.feature; });
      for (Entry const& e : entries) {
        indices_.push_back(e.feature);
        values_.push_back(e.value);
      }
      indptr_.push_back(indices_.size());
    }
  });
}

std::string AscendingRows::indptr() const { return ArrayText(indptr_.data(), {indptr_.size()}); }
std::string AscendingRows::indices() const { return ArrayText(indices_.data(), {indices_.size()}); }
std::string AscendingRows::values() const { return ArrayText(values_.data(), {values_.size()}); }

std::unique_ptr<AscendingRows> MakeAscendingRows(InPlaceArrays const& arrays) {
  constexpr float kNoMark = std::numeric_limits<float>::quiet_NaN();  // what is missing stays as it is
  auto const rows = MakeCsrRows(arrays, kNoMark, 1);
  if (rows == nullptr || rows->Ascend()) return nullptr;
  return std::make_unique<AscendingRows>(*rows);
}

}  // namespace xgbgpu::plugin
