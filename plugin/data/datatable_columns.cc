// Copies columns of the package datatable to rows.
#include "data/datatable_columns.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/message.h"
#include "base/parallel.h"

namespace xgbgpu::plugin {

namespace {

/// A byte that is 0 or 1.
enum class Truth : std::uint8_t {};

/// Copies values [first, first + n) of a column to places `step` apart. Returns false if one of them is for stock code.
using CopyFunction = bool (*)(void const* column, std::size_t first, std::size_t n, float* to, std::size_t step);

template <typename T>
bool CopyDatatableColumn(void const* column, std::size_t first, std::size_t n, float* to, std::size_t step) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  bool is_known = true;
  for (std::size_t i = 0; i < n; ++i) {
    T raw;
    std::memcpy(&raw, static_cast<char const*>(column) + (first + i) * sizeof(T), sizeof(T));
    float& value = to[i * step];
    value = static_cast<float>(raw);
    if constexpr (std::is_same_v<T, Truth>) {
      is_known = is_known & (static_cast<std::uint8_t>(raw) <= 1);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(raw)) value = kMissing;
    } else {
      if (raw == std::numeric_limits<T>::min()) value = kMissing;
    }
  }
  return is_known;
}

/// Null for a type that the package does not pass.
CopyFunction CopyOf(std::string_view type) {
  if (type == "float32") return CopyDatatableColumn<float>;
  if (type == "float64") return CopyDatatableColumn<double>;
  if (type == "bool8") return CopyDatatableColumn<Truth>;
  if (type == "int8") return CopyDatatableColumn<std::int8_t>;
  if (type == "int16") return CopyDatatableColumn<std::int16_t>;
  if (type == "int32") return CopyDatatableColumn<std::int32_t>;
  if (type == "int64") return CopyDatatableColumn<std::int64_t>;
  return nullptr;
}

/// Returns nothing if a type is not known. Throws if stock code would read from a null address.
std::optional<std::vector<CopyFunction>> CopiesOf(DatatableColumns const& table) {
  if (table.values == nullptr || table.types == nullptr) {
    Throw<InvalidArgument>(table.values == nullptr ? "data" : "feature_stypes", " is null, and there are ",
                           table.columns, " columns; allowed: an array of as many");
  }
  std::vector<CopyFunction> copies;
  for (std::uint64_t column = 0; column < table.columns; ++column) {
    char const* const type = table.types[column];
    CopyFunction const copy = type == nullptr ? nullptr : CopyOf(type);
    if (copy == nullptr) return std::nullopt;
    if (table.values[column] == nullptr) {
      Throw<InvalidArgument>("data[", column, "] is null, and there are ", table.rows,
                             " rows; allowed: an array of as many values");
    }
    copies.push_back(copy);
  }
  return copies;
}

}  // namespace

std::unique_ptr<HeldRows> HoldRows(DatatableColumns const& table, int threads) {
  if (table.rows == 0 || table.columns == 0 || table.columns > std::numeric_limits<std::int32_t>::max()) return nullptr;
  auto const copies = CopiesOf(table);
  std::size_t bytes = 0;
  if (!copies || __builtin_mul_overflow(table.rows, table.columns * sizeof(float), &bytes)) return nullptr;
  Buffer<std::uint8_t> floats{bytes};
  auto* const out = reinterpret_cast<float*>(floats.data());
  std::size_t const columns = copies->size();
  // Columns are read in tiles of rows. The places of a tile in the copy stay in the cache.
  constexpr std::size_t kTileRows = 64, kGrainValues = 1 << 17;
  std::size_t const grain = std::max<std::size_t>(1, kGrainValues / columns / kTileRows) * kTileRows;
  std::atomic<bool> is_for_stock{false};
  ParallelChunks(threads, table.rows, grain, [&](std::size_t begin, std::size_t end) {
    bool is_known = true;
    for (std::size_t tile = begin; tile < end; tile += kTileRows) {
      std::size_t const n = std::min(kTileRows, end - tile);
      for (std::size_t column = 0; column < columns; ++column) {
        is_known &= (*copies)[column](table.values[column], tile, n, out + tile * columns + column, columns);
      }
    }
    if (!is_known) is_for_stock = true;
  });
  if (is_for_stock) return nullptr;
  return HoldRows(std::move(floats), table.rows, static_cast<FeatureIndex>(columns), threads);
}

}  // namespace xgbgpu::plugin
