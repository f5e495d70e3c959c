// Copies of dense, CSR and CSC arrays, as rows that own their values.
#include "data/held_rows.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/message.h"
#include "base/parallel.h"
#include "data/array_view.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Holds what a pass over values found.
struct Found {
  std::uint64_t present{0};  ///< values that are not missing
  bool is_infinite{false};   ///< true: one of them is

  void Add(Found const& other) {
    present += other.present;
    is_infinite = is_infinite || other.is_infinite;
  }
};

constexpr std::size_t kTileRows = 64;

/// Adds up what look(begin, end) finds in chunks of [0, n).
template <typename F>
Found LookAtChunks(int threads, std::size_t n, std::size_t grain, F&& look) {
  std::mutex mutex;
  Found all;
  ParallelChunks(threads, n, grain, [&](std::size_t begin, std::size_t end) {
    Found const own = look(begin, end);
    std::lock_guard<std::mutex> const lock{mutex};
    all.Add(own);
  });
  return all;
}

/// Counts a value.
template <typename T>
void Count(T raw, float missing, Found* found) {
  auto const value = static_cast<float>(raw);
  bool const has = value == value && value != missing;
  found->present += has ? 1 : 0;
  if constexpr (!std::is_integral_v<T>) {
    found->is_infinite = found->is_infinite | (has && std::fabs(value) > std::numeric_limits<float>::max());
  }
}

Found Look(DenseValues const& values, std::size_t count, int threads) {
  constexpr std::size_t kGrain = 1 << 16;
  return VisitValues(values, [&](auto const* data) {
    return LookAtChunks(threads, count, kGrain, [&](std::size_t begin, std::size_t end) {
      Found own;
      for (std::size_t i = begin; i < end; ++i) Count(data[i], values.missing, &own);
      return own;
    });
  });
}

/// A dense array.
class HeldArray final : public HeldRows {
 public:
  HeldArray(Buffer<std::uint8_t> bytes, DenseValues const& kind, std::uint64_t rows, FeatureIndex features,
            std::uint64_t present, int threads)
      : bytes_{std::move(bytes)},
        source_{{bytes_.data(), kind.type, kind.missing}, rows, features, threads},
        present_{present} {}

  std::uint64_t rows() const override { return source_.rows(); }
  FeatureIndex features() const override { return source_.features(); }
  std::optional<DenseValues> dense() const override { return source_.dense(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { source_.ForEachBatch(visit); }
  std::uint64_t present() const override { return present_; }
  void VisitSome(std::uint64_t first, std::uint64_t count, int threads,
                 std::function<void(RowBatch const&)> const& visit) const override {
    DenseValues part = *source_.dense();
    part.data = bytes_.data() + first * features() * ValueBytes(part.type);
    ArraySource{part, count, features(), threads}.ForEachBatch(visit);
  }
  std::unique_ptr<HeldRows> Slice(Span<std::int32_t const> numbers, int threads) const override;

 private:
  Buffer<std::uint8_t> bytes_;
  ArraySource source_;
  std::uint64_t present_;
};

std::unique_ptr<HeldRows> HeldArray::Slice(Span<std::int32_t const> numbers, int threads) const {
  DenseValues const values = *source_.dense();
  std::size_t const row_bytes = features() * ValueBytes(values.type);
  Buffer<std::uint8_t> bytes{numbers.size() * row_bytes};
  std::size_t const grain = GrainOfNewMemory(numbers.size(), row_bytes, threads);
  ParallelChunks(threads, numbers.size(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      auto const row = static_cast<std::size_t>(numbers[i]);
      std::memcpy(bytes.data() + i * row_bytes, bytes_.data() + row * row_bytes, row_bytes);
    }
  });
  DenseValues const sliced{bytes.data(), values.type, values.missing};
  std::uint64_t const present = Look(sliced, numbers.size() * features(), threads).present;
  return std::make_unique<HeldArray>(std::move(bytes), sliced, numbers.size(), features(), present, threads);
}

/// True if T is kept as it is. Other types are kept as float32.
template <typename T>
constexpr bool kIsKept = std::is_integral_v<T> && sizeof(T) <= 2;

template <typename T>
constexpr ValueType KindOf() {
  if constexpr (!kIsKept<T>) {
    return ValueType::kFloat32;
  } else if constexpr (sizeof(T) == 1) {
    return std::is_signed_v<T> ? ValueType::kInt8 : ValueType::kUInt8;
  } else {
    return std::is_signed_v<T> ? ValueType::kInt16 : ValueType::kUInt16;
  }
}

/// Copies n values, `stride` bytes apart, to places `step` apart. What is kept as float32 becomes NaN where it is
/// missing.
template <typename T, typename Out>
void CopyValues(char const* from, std::int64_t stride, std::size_t n, float missing, Out* to, std::size_t step,
                Found* found) {
  auto const copy = [&](std::int64_t distance) {
    Found own;
    for (std::size_t i = 0; i < n; ++i) {
      T raw;
      std::memcpy(&raw, from + static_cast<std::int64_t>(i) * distance, sizeof(T));
      Count(raw, missing, &own);
      if constexpr (kIsKept<T>) {
        to[i * step] = raw;
      } else {
        auto const value = static_cast<float>(raw);
        to[i * step] = value == missing ? std::numeric_limits<float>::quiet_NaN() : value;
      }
    }
    found->Add(own);
  };
  if (stride == sizeof(T) && step == 1) {
    step = 1;
    copy(sizeof(T));  // the compiler sees neighbours
  } else {
    copy(stride);
  }
}

template <typename T>
std::unique_ptr<HeldRows> HoldArray(ArrayView const& array, float missing, int threads) {
  using Out = std::conditional_t<kIsKept<T>, T, float>;
  auto const rows = static_cast<std::size_t>(array.shape[0]), columns = static_cast<std::size_t>(array.shape[1]);
  Buffer<std::uint8_t> bytes{rows * columns * sizeof(Out)};
  auto* const out = reinterpret_cast<Out*>(bytes.data());
  bool const by_rows = std::abs(array.strides[1]) <= std::abs(array.strides[0]);
  // An array in Fortran order is read by columns, in tiles of rows. The places of a tile in the copy stay in the cache.
  std::size_t const grain = GrainOfNewMemory(rows, columns * sizeof(Out), threads);
  Found const found = LookAtChunks(threads, rows, grain, [&](std::size_t begin, std::size_t end) {
    Found own;
    auto const at = [&](std::size_t row, std::size_t column) {
      return array.data + static_cast<std::int64_t>(row) * array.strides[0] +
             static_cast<std::int64_t>(column) * array.strides[1];
    };
    if (by_rows) {
      for (std::size_t row = begin; row < end; ++row) {
        CopyValues<T>(at(row, 0), array.strides[1], columns, missing, out + row * columns, 1, &own);
      }
    } else {
      for (std::size_t tile = begin; tile < end; tile += kTileRows) {
        std::size_t const n = std::min(kTileRows, end - tile);
        for (std::size_t column = 0; column < columns; ++column) {
          CopyValues<T>(at(tile, column), array.strides[0], n, missing, out + tile * columns + column, columns, &own);
        }
      }
    }
    return own;
  });
  if (found.is_infinite) return nullptr;
  DenseValues kind{nullptr, KindOf<T>()};
  if (kIsKept<T>) kind.missing = missing;
  return std::make_unique<HeldArray>(std::move(bytes), kind, rows, static_cast<FeatureIndex>(columns), found.present,
                                     threads);
}

template <typename T>
std::unique_ptr<RowSource> ViewArray(ArrayView const& array, float missing, int threads) {
  if constexpr (kIsKept<T> || std::is_same_v<T, float>) {
    constexpr std::int64_t kBytes = sizeof(T);
    if (array.strides[1] != kBytes || array.strides[0] != array.shape[1] * kBytes) return nullptr;
    auto const rows = static_cast<std::uint64_t>(array.shape[0]);
    auto const columns = static_cast<FeatureIndex>(array.shape[1]);
    DenseValues const values{array.data, KindOf<T>(), missing};
    if (Look(values, rows * columns, threads).is_infinite) return nullptr;
    return std::make_unique<ArraySource>(values, rows, columns, threads);
  } else {
    return nullptr;
  }
}

/// Stored values of sparse rows.
class HeldEntries final : public HeldRows {
 public:
  HeldEntries(Buffer<std::uint64_t> offsets, Buffer<Entry> entries, FeatureIndex features)
      : offsets_{std::move(offsets)}, entries_{std::move(entries)}, features_{features} {}

  std::uint64_t rows() const override { return offsets_.size() - 1; }
  FeatureIndex features() const override { return features_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { visit(All()); }
  std::uint64_t present() const override { return offsets_[rows()]; }
  void VisitSome(std::uint64_t first, std::uint64_t count, int /*threads*/,
                 std::function<void(RowBatch const&)> const& visit) const override {
    RowBatch const all = All();
    visit({0, all.offsets.subspan(first, count + 1), all.entries});
  }
  std::unique_ptr<HeldRows> Slice(Span<std::int32_t const> numbers, int threads) const override;

  /// The rows as one batch.
  RowBatch All() const { return {0, {offsets_.data(), offsets_.size()}, {entries_.data(), offsets_[rows()]}}; }

 private:
  Buffer<std::uint64_t> offsets_;  ///< [rows + 1]
  Buffer<Entry> entries_;
  FeatureIndex features_;
};

/// Makes offsets of the sizes that stand in offsets[1 …].
void AddUp(Buffer<std::uint64_t>* offsets) {
  (*offsets)[0] = 0;
  for (std::size_t row = 1; row < offsets->size(); ++row) (*offsets)[row] += (*offsets)[row - 1];
}

std::unique_ptr<HeldRows> HeldEntries::Slice(Span<std::int32_t const> numbers, int threads) const {
  RowBatch const all = All();
  Buffer<std::uint64_t> offsets{numbers.size() + 1};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    offsets[i + 1] = all.row(static_cast<std::uint64_t>(numbers[i])).size();
  }
  AddUp(&offsets);
  Buffer<Entry> entries{offsets[numbers.size()]};
  constexpr std::size_t kGrain = 1 << 10;  // rows
  ParallelChunks(threads, numbers.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      auto const row = all.row(static_cast<std::uint64_t>(numbers[i]));
      std::copy(row.begin(), row.end(), entries.data() + offsets[i]);
    }
  });
  return std::make_unique<HeldEntries>(std::move(offsets), std::move(entries), features_);
}

/// Rows without the values that are NaN.
std::unique_ptr<HeldRows> WithoutMissing(HeldEntries const& all, int threads) {
  constexpr std::size_t kGrain = 1 << 10;  // rows
  RowBatch const batch = all.All();
  auto const is_there = [](Entry const& e) { return !std::isnan(e.value); };
  Buffer<std::uint64_t> offsets{all.rows() + 1};
  ParallelChunks(threads, all.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      auto const entries = batch.row(row);
      offsets[row + 1] = static_cast<std::uint64_t>(std::count_if(entries.begin(), entries.end(), is_there));
    }
  });
  AddUp(&offsets);
  Buffer<Entry> kept{offsets[all.rows()]};
  ParallelChunks(threads, all.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      auto const entries = batch.row(row);
      std::copy_if(entries.begin(), entries.end(), kept.data() + offsets[row], is_there);
    }
  });
  return std::make_unique<HeldEntries>(std::move(offsets), std::move(kept), all.features());
}

template <typename T>
T Read(ArrayView const& array, std::size_t i) {
  return array.Read<T>(static_cast<std::int64_t>(i) * array.strides[0]);
}

/// Where rows begin and end, counted from the first; nothing if they are not in order, or end beyond `stored` values.
Buffer<std::uint64_t> ReadOffsets(ArrayView const& indptr, std::uint64_t stored, std::uint64_t* first) {
  auto const n = static_cast<std::size_t>(indptr.shape[0]);
  Buffer<std::uint64_t> offsets{n};
  bool in_order = true;
  WithType(indptr.type, [&](auto type) {
    using Offset = decltype(type);
    *first = static_cast<std::uint64_t>(Read<Offset>(indptr, 0));
    std::uint64_t before = *first;
    for (std::size_t i = 0; i < n; ++i) {
      auto const offset = static_cast<std::uint64_t>(Read<Offset>(indptr, i));
      in_order = in_order && before <= offset && offset <= stored;
      offsets[i] = offset - *first;
      before = offset;
    }
  });
  return in_order ? std::move(offsets) : Buffer<std::uint64_t>{};
}

/// Returns null if the arrays are no CSR matrix, or if a value is infinite.
std::unique_ptr<HeldRows> HoldEntries(InPlaceArrays const& arrays, float missing, int threads) {
  auto const values = ParseArray(arrays.values, 1), indptr = ParseArray(arrays.indptr, 1),
             indices = ParseArray(arrays.indices, 1);
  if (!values || !indptr || !indices) return nullptr;
  if (!HasKnownType(*values) || !HasKnownType(*indptr) || !HasKnownType(*indices)) return nullptr;
  if (indptr->shape[0] < 2 || indices->shape[0] != values->shape[0] || indptr->data == nullptr) return nullptr;
  bool const has_values = values->shape[0] != 0;
  if (has_values && (values->data == nullptr || indices->data == nullptr)) return nullptr;
  if (arrays.columns == 0 || arrays.columns > std::numeric_limits<std::int32_t>::max()) return nullptr;
  std::uint64_t first = 0;
  auto offsets = ReadOffsets(*indptr, static_cast<std::uint64_t>(values->shape[0]), &first);
  if (offsets.size() == 0) return nullptr;
  std::size_t const stored = offsets[offsets.size() - 1];
  Buffer<Entry> entries{stored};
  std::atomic<bool> is_wrong{false}, has_missing{false};
  WithType(values->type, [&](auto value_type) {
    WithType(indices->type, [&](auto index_type) {
      std::size_t const grain = GrainOfNewMemory(stored, sizeof(Entry), threads);
      ParallelChunks(threads, stored, grain, [&](std::size_t begin, std::size_t end) {
        bool wrong = false, absent = false;
        for (std::size_t i = begin; i < end; ++i) {
          auto const column = static_cast<std::uint64_t>(Read<decltype(index_type)>(*indices, first + i));
          auto const value = static_cast<float>(Read<decltype(value_type)>(*values, first + i));
          bool const is_missing = std::isnan(value) || value == missing;
          absent |= is_missing;
          wrong |= column >= arrays.columns || (!is_missing && std::isinf(value));
          entries[i] = {static_cast<FeatureIndex>(column),
                        is_missing ? std::numeric_limits<float>::quiet_NaN() : value};
        }
        if (wrong) is_wrong = true;
        if (absent) has_missing = true;
      });
    });
  });
  if (is_wrong) return nullptr;
  auto held =
      std::make_unique<HeldEntries>(std::move(offsets), std::move(entries), static_cast<FeatureIndex>(arrays.columns));
  return has_missing ? WithoutMissing(*held, threads) : std::move(held);
}

/// Copies n values of a column, from value `first` on, to places `step` apart.
template <typename T>
void CopyColumn(ColumnView const& column, std::size_t first, std::size_t n, float missing, float* to, std::size_t step,
                Found* found) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::int64_t const stride = column.values.strides[0];
  char const* from = column.values.data + static_cast<std::int64_t>(first) * stride;
  std::uint8_t const* const present = column.present;
  Found own;
  for (std::size_t i = first; i < first + n; ++i, from += stride, to += step) {
    T raw;
    std::memcpy(&raw, from, sizeof(T));
    auto const value = static_cast<float>(raw);
    bool const has = (present == nullptr || IsPresent(present, i)) && value != missing;
    *to = has ? value : kNone;
    Count(has ? value : kNone, missing, &own);
  }
  found->Add(own);
}

/// Copies the columns of a table to rows. Columns are read in tiles of rows, whose places in the copy stay in the
/// cache.
std::unique_ptr<HeldRows> HoldColumns(std::vector<ColumnView> const& table, float missing, int threads) {
  std::size_t const columns = table.size(),
                    rows = columns == 0 ? 0 : static_cast<std::size_t>(table[0].values.shape[0]);
  bool const is_there = std::all_of(table.cbegin(), table.cend(), [](auto& c) { return c.values.data != nullptr; });
  std::size_t bytes = 0;
  if (rows == 0 || !is_there || columns > std::numeric_limits<std::int32_t>::max()) return nullptr;
  if (__builtin_mul_overflow(rows, columns * sizeof(float), &bytes)) return nullptr;
  Buffer<std::uint8_t> floats{bytes};
  auto* const out = reinterpret_cast<float*>(floats.data());
  std::vector<decltype(&CopyColumn<float>)> copies;
  for (ColumnView const& column : table) {
    WithType(column.values.type, [&](auto type) { copies.push_back(CopyColumn<decltype(type)>); });
  }
  std::size_t const grain = GrainOfNewMemory(rows, columns * sizeof(float), threads);
  Found const found = LookAtChunks(threads, rows, grain, [&](std::size_t begin, std::size_t end) {
    Found own;
    for (std::size_t tile = begin; tile < end; tile += kTileRows) {
      std::size_t const n = std::min(kTileRows, end - tile);
      for (std::size_t i = 0; i < columns; ++i) {
        copies[i](table[i], tile, n, missing, out + tile * columns + i, columns, &own);
      }
    }
    return own;
  });
  if (found.is_infinite) return nullptr;
  DenseValues const kind{floats.data()};
  return std::make_unique<HeldArray>(std::move(floats), kind, rows, static_cast<FeatureIndex>(columns), found.present,
                                     threads);
}

/// Where the values of each column begin, and the end of the last. Throws unless offsets and addresses make a CSC
/// matrix.
std::vector<std::uint64_t> ReadColumns(CscArrays const& arrays) {
  if (arrays.offsets.data == nullptr) {
    Throw<InvalidArgument>("col_ptr of a CSC matrix is null; allowed: an array, one longer than there are columns");
  }
  std::vector<std::uint64_t> offsets(static_cast<std::size_t>(arrays.offsets.shape[0]));
  WithType(arrays.offsets.type, [&](auto type) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      offsets[i] = static_cast<std::uint64_t>(Read<decltype(type)>(arrays.offsets, i));
    }
  });
  auto const stored = static_cast<std::uint64_t>(arrays.values.shape[0]);
  for (std::size_t column = 0; column + 1 < offsets.size(); ++column) {
    std::uint64_t const begin = offsets[column], end = offsets[column + 1];
    if (begin > end || end > stored) {
      Throw<InvalidArgument>("Column ", column, " of a CSC matrix is from value ", begin, " to ", end,
                             " (col_ptr); allowed: numbers that never decrease, up to the number of values, ", stored);
    }
  }
  bool const has_values = offsets.front() != offsets.back();
  if (has_values && (arrays.numbers.data == nullptr || arrays.values.data == nullptr)) {
    Throw<InvalidArgument>(arrays.numbers.data == nullptr ? "indices" : "data",
                           " of a CSC matrix is null, and there are ", stored, " values; allowed: an array of as many");
  }
  return offsets;
}

/// Calls visit(column, index, value) for the values that are not missing, column by column. Index: of the value.
template <typename T, typename Visit>
void VisitCsc(CscArrays const& arrays, std::vector<std::uint64_t> const& columns, Visit&& visit) {
  for (std::size_t column = 0; column + 1 < columns.size(); ++column) {
    for (std::uint64_t i = columns[column]; i < columns[column + 1]; ++i) {
      auto const value = static_cast<float>(Read<T>(arrays.values, i));
      if (!std::isnan(value) && value != arrays.missing) visit(static_cast<FeatureIndex>(column), i, value);
    }
  }
}

/// Makes entries of values of type Value, whose rows are numbers of type Number.
template <typename Value, typename Number>
std::unique_ptr<HeldRows> HoldCsc(CscArrays const& arrays, std::vector<std::uint64_t> const& columns) {
  auto const row_of = [&](std::uint64_t i) { return static_cast<std::uint64_t>(Read<Number>(arrays.numbers, i)); };
  Buffer<std::uint64_t> offsets{arrays.rows + 1};
  std::fill_n(offsets.data(), offsets.size(), 0);
  Found found;
  VisitCsc<Value>(arrays, columns, [&](FeatureIndex column, std::uint64_t i, float value) {
    std::uint64_t const row = row_of(i);
    if (row >= arrays.rows) {
      Throw<InvalidArgument>("Value ", i, " of a CSC matrix, in column ", column, ", is in row ",
                             static_cast<std::int64_t>(row), " (indices); allowed: 0 to ", arrays.rows - 1);
    }
    Count(value, arrays.missing, &found);
    ++offsets[row + 1];
  });
  if (found.is_infinite) return nullptr;
  AddUp(&offsets);
  Buffer<Entry> entries{found.present};
  VisitCsc<Value>(arrays, columns, [&](FeatureIndex column, std::uint64_t i, float value) {
    entries[offsets[row_of(i)]++] = {column, value};
  });
  // Each offset went on to the begin of the next row.
  std::copy_backward(offsets.data(), offsets.data() + arrays.rows, offsets.data() + arrays.rows + 1);
  offsets[0] = 0;
  return std::make_unique<HeldEntries>(std::move(offsets), std::move(entries),
                                       static_cast<FeatureIndex>(columns.size() - 1));
}

/// Reads the array interface of a dense matrix. Nothing where it is left to stock code. Throws as HoldRows does.
std::optional<ArrayView> ParseDense(char const* values) {
  auto array = ParseArray(values, 2);
  if (!array || array->data == nullptr || array->shape[0] == 0 || array->shape[1] == 0) return {};
  if (array->shape[1] > std::numeric_limits<std::int32_t>::max()) return {};
  std::int64_t bytes = 0;  // of XGBoost's page; with strides of 0 a shape may be of any size
  bool const is_too_large = __builtin_mul_overflow(array->shape[0], array->shape[1], &bytes) ||
                            __builtin_mul_overflow(bytes, std::int64_t{sizeof(Entry)}, &bytes);
  if (is_too_large) {  // XGBoost asks for the memory, which some systems promise
    Throw<InvalidArgument>("An array has ", array->shape[0], " rows and ", array->shape[1],
                           " columns, whose values take 2^63 bytes or more; allowed: what fits in memory");
  }
  return array;
}

}  // namespace

std::optional<CscArrays> ParseCsc(char const* offsets, char const* numbers, char const* values, std::uint64_t rows,
                                  float missing) {
  auto const of_columns = ParseArray(offsets, 1), of_rows = ParseArray(numbers, 1), of_values = ParseArray(values, 1);
  if (!of_columns || !of_rows || !of_values) return {};
  if (!HasKnownType(*of_columns) || !HasKnownType(*of_rows) || !HasKnownType(*of_values)) return {};
  if (of_columns->shape[0] == 0 || of_rows->shape != of_values->shape) return {};
  return CscArrays{*of_columns, *of_rows, *of_values, rows, missing};
}

std::unique_ptr<HeldRows> HoldRows(CscArrays const& arrays) {
  auto const columns = ReadColumns(arrays);
  bool const has_columns = columns.size() > 1 && columns.size() - 1 <= std::numeric_limits<std::int32_t>::max();
  constexpr std::uint64_t kMostRows = std::uint64_t{1} << 56;  // the size of their offsets in bytes is a number
  if (!has_columns || arrays.rows == 0 || arrays.rows > kMostRows) return nullptr;
  std::unique_ptr<HeldRows> held;
  WithType(arrays.values.type, [&](auto value) {
    WithType(arrays.numbers.type,
             [&](auto number) { held = HoldCsc<decltype(value), decltype(number)>(arrays, columns); });
  });
  return held;
}

std::unique_ptr<HeldRows> HoldRows(InPlaceArrays const& arrays, float missing, int threads) {
  if (arrays.indptr != nullptr) return HoldEntries(arrays, missing, threads);
  if (arrays.by_columns) {
    auto const columns = ParseColumns(arrays.values);
    return columns ? HoldColumns(*columns, missing, threads) : nullptr;
  }
  auto const array = ParseDense(arrays.values);
  if (!array) return nullptr;
  std::unique_ptr<HeldRows> held;
  WithType(array->type, [&](auto type) { held = HoldArray<decltype(type)>(*array, missing, threads); });
  return held;
}

std::unique_ptr<RowSource> ViewRows(InPlaceArrays const& arrays, float missing, int threads) {
  if (arrays.indptr != nullptr || arrays.by_columns) return nullptr;
  auto const array = ParseDense(arrays.values);
  if (!array) return nullptr;
  std::unique_ptr<RowSource> rows;
  WithType(array->type, [&](auto type) { rows = ViewArray<decltype(type)>(*array, missing, threads); });
  return rows;
}

std::unique_ptr<HeldRows> HoldRows(Buffer<std::uint8_t> floats, std::uint64_t rows, FeatureIndex features,
                                   int threads) {
  DenseValues const kind{floats.data()};
  Found const found = Look(kind, rows * features, threads);
  if (found.is_infinite) return nullptr;
  return std::make_unique<HeldArray>(std::move(floats), kind, rows, features, found.present, threads);
}

}  // namespace xgbgpu::plugin
