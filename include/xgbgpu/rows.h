/// Raw data for the engine: rows that can be read any number of times, in batches or as arrays.
#ifndef XGBGPU_ROWS_H_
#define XGBGPU_ROWS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "xgbgpu/api.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A stored value of a row. Its layout is that of XGBoost's Entry, so pages are read in place.
struct Entry {
  FeatureIndex feature;
  float value;
};

/// Consecutive rows in CSR form. Absent values and stored NaNs are missing.
struct RowBatch {
  std::uint64_t first_row{0};         ///< index of the batch's first row in the whole matrix
  Span<std::uint64_t const> offsets;  ///< [rows + 1], offsets into `entries`
  Span<Entry const> entries;

  std::uint64_t rows() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  Span<Entry const> row(std::uint64_t i) const { return entries.subspan(offsets[i], offsets[i + 1] - offsets[i]); }
};

/// The type of an array's values. A float holds every value of each type exactly.
enum class ValueType : std::uint8_t { kFloat32, kInt8, kUInt8, kInt16, kUInt16 };

constexpr int kHostMemory = -1;

/// Rows as a row-major array without gaps. In training no value is infinite.
struct DenseValues {
  void const* data;  ///< [rows, features] of `type`
  ValueType type{ValueType::kFloat32};
  float missing{std::numeric_limits<float>::quiet_NaN()};  ///< values equal to it are missing; NaNs are always missing
  int device{kHostMemory};  ///< ordinal of the CUDA device that holds the array, or kHostMemory
};

/// Consecutive rows of a matrix as an array.
struct ArrayBatch {
  DenseValues values;          ///< `data` is of the first row of the batch
  std::uint64_t first_row{0};  ///< index of the array's first row in the whole matrix
  std::uint64_t rows{0};
};

/// A matrix of raw values. The engine reads it from the first row to the last, any number of times. A program
/// implements it for its own data.
class XGBGPU_API RowSource {
 public:
  virtual ~RowSource() = default;
  virtual std::uint64_t rows() const = 0;
  virtual FeatureIndex features() const = 0;
  /// Returns [features] 1 for a categorical feature, or empty if there is none. Categories are 0, 1, 2 … without order.
  virtual Span<std::uint8_t const> categorical() const { return {}; }
  /// Returns the array of all rows, if they lie in memory as one. It is valid as long as the source.
  virtual std::optional<DenseValues> dense() const { return std::nullopt; }
  /// Returns type, missing value and device of the arrays of ForEachArray, if rows come as arrays. Rows that lie in
  /// memory as one array come as this array.
  virtual std::optional<DenseValues> arrays() const { return dense(); }
  /// Calls visit(array) for every array in row order, if rows come as arrays. An array is valid during the call only.
  virtual void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const {
    if (auto const values = dense()) visit({*values, 0, rows()});
  }
  /// Calls visit(batch) for every batch in row order. A batch is valid during the call only.
  virtual void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_ROWS_H_
