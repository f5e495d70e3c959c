/// How raw data reaches the engine: batches of sparse rows, read as often as needed, in any number of pages.
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

/// One stored value of a row. It has the layout of XGBoost's Entry, so that pages are read where they lie.
struct Entry {
  FeatureIndex feature;
  float value;
};

/// A run of consecutive rows in CSR form. Values that are not stored are missing; so are stored NaNs.
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

/// Rows as an array: all values of a row, then those of the next, without gaps. In training none is infinite.
struct DenseValues {
  void const* data;  ///< [rows, features] of `type`
  ValueType type{ValueType::kFloat32};
  float missing{std::numeric_limits<float>::quiet_NaN()};  ///< values equal to it are missing, as NaNs are
  int device{kHostMemory};  ///< ordinal of the CUDA device in whose memory the array is, or kHostMemory
};

/// Consecutive rows of a matrix as an array.
struct ArrayBatch {
  DenseValues values;          ///< data: of these rows
  std::uint64_t first_row{0};  ///< index of the array's first row in the whole matrix
  std::uint64_t rows{0};
};

/// A matrix of raw values that can be read from the first row to the last, any number of times.
class XGBGPU_API RowSource {
 public:
  virtual ~RowSource() = default;
  virtual std::uint64_t rows() const = 0;
  virtual FeatureIndex features() const = 0;
  /// [features] 1 where values are categories: numbers 0, 1, 2 … without order; empty if no feature is categorical.
  virtual Span<std::uint8_t const> categorical() const { return {}; }
  /// Returns the rows as an array, if they lie in memory as one. It is valid as long as the source. Stages read it
  /// where that is faster than batches.
  virtual std::optional<DenseValues> dense() const { return std::nullopt; }
  /// Returns what all arrays of ForEachArray have in common, if the rows come as arrays: type, missing and device. What
  /// lies in memory as one array comes as this array.
  virtual std::optional<DenseValues> arrays() const { return dense(); }
  /// Calls `visit` for every array in row order, if the rows come as arrays. An array is valid during the call only.
  virtual void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const {
    if (auto const values = dense()) visit({*values, 0, rows()});
  }
  /// Calls `visit` for every batch in row order. A batch is valid during the call only.
  virtual void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_ROWS_H_
