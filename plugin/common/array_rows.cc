#include "array_rows.h"

#include <xgboost/json.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/message.h"
#include "core/parallel.h"

namespace xgbgpu::plugin {

namespace {

constexpr std::uint64_t kBatchValues = 1 << 21;  // 16 MiB of entries

/// An array as the array interface describes it.
struct ArrayView {
  char const* data;
  std::string type;  ///< kind and bytes, "f4"
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< bytes

  template <typename T>
  T Read(std::int64_t offset) const {
    T value;
    std::memcpy(&value, data + offset, sizeof(T));
    return value;
  }
};

std::vector<std::int64_t> Integers(xgboost::Json const& array) {
  std::vector<std::int64_t> values;
  for (auto const& value : xgboost::get<xgboost::Array const>(array)) {
    values.push_back(xgboost::get<xgboost::Integer const>(value));
  }
  return values;
}

/// Reads an array interface; nothing if it has another number of dimensions, masks, or bytes in another order.
std::optional<ArrayView> Parse(char const* interface, std::size_t dimensions) {
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{interface});
  auto const& members = xgboost::get<xgboost::Object const>(json);
  auto const has = [&](char const* name) {
    auto const found = members.find(name);
    return found != members.cend() && !xgboost::IsA<xgboost::Null>(found->second);
  };
  if (!has("data") || !has("shape") || !has("typestr") || has("mask") || has("stream")) return {};
  auto const& type = xgboost::get<xgboost::String const>(json["typestr"]);
  auto const shape = Integers(json["shape"]);
  bool const in_order = type.size() == 3 && (type[0] == '<' || type[0] == '|');
  bool const has_sizes = std::all_of(shape.cbegin(), shape.cend(), [](std::int64_t n) { return n >= 0; });
  if (!in_order || !has_sizes || shape.size() != dimensions) return {};
  ArrayView view{nullptr, type.substr(1), shape, std::vector<std::int64_t>(dimensions)};
  auto const& data = xgboost::get<xgboost::Array const>(json["data"]);
  if (data.empty()) return {};
  auto const address = xgboost::get<xgboost::Integer const>(data[0]);
  view.data = reinterpret_cast<char const*>(static_cast<std::uintptr_t>(address));
  if (has("strides")) {
    view.strides = Integers(json["strides"]);
    if (view.strides.size() != dimensions) return {};
  } else {
    std::int64_t bytes = type[2] - '0';
    for (std::size_t d = dimensions; d-- > 0;) {
      view.strides[d] = bytes;
      if (__builtin_mul_overflow(bytes, shape[d], &bytes)) return {};
    }
  }
  return view;
}

/// Calls use(a value of the type); returns false if the type is none of these.
template <typename Use>
bool WithType(std::string const& type, Use&& use) {
  auto const is = [&](char const* name, auto value) {
    bool const found = type == name;
    if (found) use(value);
    return found;
  };
  return is("f4", float{}) || is("f8", double{}) || is("i1", std::int8_t{}) || is("i2", std::int16_t{}) ||
         is("i4", std::int32_t{}) || is("i8", std::int64_t{}) || is("u1", std::uint8_t{}) ||
         is("u2", std::uint16_t{}) || is("u4", std::uint32_t{}) || is("u8", std::uint64_t{});
}

bool HasKnownType(ArrayView const& array) {
  return WithType(array.type, [](auto) {});
}

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
  /// Do columns ascend in every row? Values are not looked at. Throws what ForEachBatch throws, for rows
  /// up to the first that does not ascend.
  bool Ascend() const {
    bool ascend = true;
    WithType(indices_.type, [&](auto type) {
      std::uint64_t begin = Offset(0);
      for (std::uint64_t row = 0; row < rows() && ascend; ++row) {
        std::uint64_t const end = EndOf(row, begin);
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
    std::vector<std::uint64_t> offsets;
    std::vector<Entry> entries;
    for (std::uint64_t first = 0; first < rows();) {
      std::uint64_t const begin = Offset(first);
      offsets.assign(1, 0);
      while (first + offsets.size() - 1 < rows() && offsets.back() < kBatchValues) {
        offsets.push_back(EndOf(first + offsets.size() - 1, begin + offsets.back()) - begin);
      }
      entries.resize(offsets.back());
      WithType(values_.type, [&](auto type) { Fill<decltype(type)>(begin, &entries); });
      visit({first, {offsets.data(), offsets.size()}, {entries.data(), entries.size()}});
      first += offsets.size() - 1;
    }
  }

 private:
  std::uint64_t Offset(std::uint64_t row) const {
    std::uint64_t offset = 0;
    WithType(indptr_.type,
             [&](auto type) { offset = static_cast<std::uint64_t>(indptr_.Read<decltype(type)>(At(indptr_, row))); });
    return offset;
  }
  static std::int64_t At(ArrayView const& array, std::uint64_t i) {
    return static_cast<std::int64_t>(i) * array.strides[0];
  }

  /// Where the row ends that begins at value `begin`.
  std::uint64_t EndOf(std::uint64_t row, std::uint64_t begin) const {
    std::uint64_t const end = Offset(row + 1);
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
  auto values = Parse(arrays.values, 1), indptr = Parse(arrays.indptr, 1), indices = Parse(arrays.indices, 1);
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
  auto values = Parse(arrays.values, 2);
  if (!values || !HasKnownType(*values)) return nullptr;
  if (values->shape[0] == 0 || values->shape[1] == 0 || values->shape[1] > kMostColumns) return nullptr;
  return std::make_unique<DenseRows>(std::move(*values), missing, threads);
}

namespace {

template <typename T>
std::string Interface(std::vector<T> const& array, char const* type) {
  auto const integer = [](auto value) { return xgboost::Json{xgboost::Integer{static_cast<std::int64_t>(value)}}; };
  auto const address = integer(reinterpret_cast<std::uintptr_t>(array.data()));
  xgboost::Json interface {
    xgboost::Object {}
  };
  interface["data"] = xgboost::Array{{address, xgboost::Json{xgboost::Boolean{true}}}};
  interface["shape"] = xgboost::Array{{integer(array.size())}};
  interface["strides"] = xgboost::Null{};
  interface["typestr"] = xgboost::String{type};
  interface["version"] = integer(3);
  std::string text;
  xgboost::Json::Dump(interface, &text);
  return text;
}

}  // namespace

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

std::string AscendingRows::indptr() const { return Interface(indptr_, "<u8"); }
std::string AscendingRows::indices() const { return Interface(indices_, "<u4"); }
std::string AscendingRows::values() const { return Interface(values_, "<f4"); }

std::unique_ptr<AscendingRows> MakeAscendingRows(InPlaceArrays const& arrays) {
  constexpr float kNoMark = std::numeric_limits<float>::quiet_NaN();  // what is missing stays as it is
  auto const rows = MakeCsrRows(arrays, kNoMark, 1);
  if (rows == nullptr || rows->Ascend()) return nullptr;
  return std::make_unique<AscendingRows>(*rows);
}

}  // namespace xgbgpu::plugin
