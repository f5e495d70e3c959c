/// What objectives and metrics see of the rows of a data set: margins or predictions, and what is known about each row.
/// Views do not own; host or device memory, as the function that takes them says.
#ifndef XGBGPU_ROW_VIEWS_H_
#define XGBGPU_ROW_VIEWS_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

/// One value for each row and output (class or target). XGBoost's host vectors are row-major: row_stride = outputs,
/// output_stride = 1. On a device every output is contiguous: row_stride = 1, output_stride >= rows.
template <typename T>
struct OutputView {
  T* data;
  std::uint64_t rows;
  std::uint32_t outputs;
  std::size_t row_stride;
  std::size_t output_stride;

  constexpr T& at(std::uint64_t row, std::uint32_t output) const {
    return data[row * row_stride + output * output_stride];
  }
};

/// Returns a view of values that lie as XGBoost's host vectors do.
template <typename T>
OutputView<T> RowMajor(T* data, std::uint64_t rows, std::uint32_t outputs) {
  return {data, rows, outputs, outputs, 1};
}
/// Returns a view of values that lie as a device keeps them.
template <typename T>
OutputView<T> OutputMajor(T* data, std::uint64_t rows, std::uint32_t outputs) {
  return {data, rows, outputs, 1, static_cast<std::size_t>(rows)};
}

/// The distribution of (ln time - prediction) / scale, for survival times.
enum class AftDistribution : std::uint8_t { kNormal, kLogistic, kExtreme };

/// Rows in order of the magnitude of their labels, which are survival times.
struct TimeOrder {
  std::uint32_t const* rows{nullptr};   ///< [rows] the row at each place; equal times in order of rows
  std::uint32_t const* first{nullptr};  ///< [rows] the first place whose time equals that of each place
};

/// What the objective is told about rows. Absent arrays are null.
struct TargetView {
  float const* labels{nullptr};    ///< [rows × label_columns], row-major
  std::uint32_t label_columns{1};  ///< more than 1 only for several targets
  float const* weights{nullptr};   ///< [rows], or [groups] for ranking; null: all 1
  float const* lower{nullptr};     ///< [rows]: lower bounds of survival times
  float const* upper{nullptr};     ///< [rows]
  std::uint32_t const* group_ptr{
      nullptr};  ///< [groups + 1]: rows of ranking group g are group_ptr[g] … group_ptr[g + 1] - 1
  std::uint32_t groups{0};
  TimeOrder by_time{};  ///< for survival:cox and cox-nloglik; null: they sort the rows at every
                        ///< call; on a device they throw
};

}  // namespace xgbgpu

#endif  // XGBGPU_ROW_VIEWS_H_
