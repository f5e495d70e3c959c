/// Views of rows for objectives and metrics: margins or predictions, labels, weights and groups. A view owns nothing.
/// It is of host or device memory, as the function that takes it says.
#ifndef XGBGPU_ROW_VIEWS_H_
#define XGBGPU_ROW_VIEWS_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

/// One value for each row and output (class or target). XGBoost's vectors on the host are row-major: row_stride =
/// outputs, output_stride = 1. On a device every output is contiguous: row_stride = 1, output_stride >= rows.
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

/// Views values [rows, outputs], row-major, which is the layout of XGBoost's vectors.
template <typename T>
OutputView<T> RowMajor(T* data, std::uint64_t rows, std::uint32_t outputs) {
  return {data, rows, outputs, outputs, 1};
}
/// Views values [outputs, rows], which is the layout on a device.
template <typename T>
OutputView<T> OutputMajor(T* data, std::uint64_t rows, std::uint32_t outputs) {
  return {data, rows, outputs, 1, static_cast<std::size_t>(rows)};
}

/// Views one output alone.
template <typename T>
OutputView<T> ColumnOf(OutputView<T> const& view, std::uint32_t output) {
  return {view.data + output * view.output_stride, view.rows, 1, view.row_stride, view.output_stride};
}

/// The distribution of (ln time - prediction) / scale, for survival times.
enum class AftDistribution : std::uint8_t { kNormal, kLogistic, kExtreme };

/// Rows in order of the magnitude of their labels, which are survival times.
struct TimeOrder {
  std::uint32_t const* rows{nullptr};   ///< [rows] the row at each place; rows of equal times keep their order
  std::uint32_t const* first{nullptr};  ///< [rows] the first place of the same time as each place
};

/// The ranking groups of all shards, for a shard of their rows.
struct GroupTotals {
  std::uint32_t groups{0};     ///< 0: the shard is alone
  double weight{0};            ///< sum of weights, as one shard of all rows adds them up
  std::uint32_t first_row{0};  ///< number of the shard's first row
};

/// Labels, weights and groups of rows. Absent arrays are null.
struct TargetView {
  float const* labels{nullptr};    ///< [rows, label_columns], row-major
  std::uint32_t label_columns{1};  ///< more than 1 for several targets only
  float const* weights{nullptr};   ///< [rows], or [groups] for ranking; null: all 1
  float const* lower{nullptr};     ///< [rows] lower bounds of survival times
  float const* upper{nullptr};     ///< [rows] upper bounds
  /// [groups + 1] offsets: ranking group g has rows group_ptr[g] … group_ptr[g + 1] - 1.
  std::uint32_t const* group_ptr{nullptr};
  std::uint32_t groups{0};
  /// For gradients of ranking on a device. A shard on the host asks the other shards.
  GroupTotals all_groups{};
  /// For survival:cox and cox-nloglik. Null: the host sorts the rows in every call, and a device throws.
  TimeOrder by_time{};
};

}  // namespace xgbgpu

#endif  // XGBGPU_ROW_VIEWS_H_
