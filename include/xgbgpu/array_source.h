/// A source of rows from an array on the host.
#ifndef XGBGPU_ARRAY_SOURCE_H_
#define XGBGPU_ARRAY_SOURCE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "xgbgpu/api.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Calls f(pointer to the values) and returns its result. The pointer has the C++ type of the values.
template <typename F>
decltype(auto) VisitValues(DenseValues const& values, F&& f) {
  switch (values.type) {
    case ValueType::kInt8:
      return f(static_cast<std::int8_t const*>(values.data));
    case ValueType::kUInt8:
      return f(static_cast<std::uint8_t const*>(values.data));
    case ValueType::kInt16:
      return f(static_cast<std::int16_t const*>(values.data));
    case ValueType::kUInt16:
      return f(static_cast<std::uint16_t const*>(values.data));
    default:
      return f(static_cast<float const*>(values.data));
  }
}

/// Returns the size of a value in bytes.
constexpr std::size_t ValueBytes(ValueType type) {
  switch (type) {
    case ValueType::kInt8:
    case ValueType::kUInt8:
      return 1;
    case ValueType::kInt16:
    case ValueType::kUInt16:
      return 2;
    default:
      return sizeof(float);
  }
}

/// Views the rows of an array from `row` on.
inline DenseValues FromRow(DenseValues values, std::uint64_t row, FeatureIndex features) {
  values.data = static_cast<std::uint8_t const*>(values.data) + row * features * ValueBytes(values.type);
  return values;
}

/// Returns the value as a float, or NaN if it equals `missing`.
template <typename T>
constexpr float ValueOrNaN(T value, float missing) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  auto const number = static_cast<float>(value);
  return number == missing ? kNaN : number;
}

/// Rows of an array in host memory. A batch stores every value of its rows; missing values are NaN.
class XGBGPU_API ArraySource final : public RowSource {
 public:
  /// `values` [rows, features] are in host memory and must outlive it. `threads` threads fill a batch.
  ArraySource(DenseValues const& values, std::uint64_t rows, FeatureIndex features, int threads)
      : values_{values}, rows_{rows}, features_{features}, threads_{threads} {}

  std::uint64_t rows() const override { return rows_; }
  FeatureIndex features() const override { return features_; }
  std::optional<DenseValues> dense() const override { return values_; }
  /// Memory  8 bytes for each value and each row of a batch, which has at most 2^21 values, or one row
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override;

 private:
  DenseValues values_;
  std::uint64_t rows_;
  FeatureIndex features_;
  int threads_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_ARRAY_SOURCE_H_
