/// Tuning numbers of the device's quantile stage.
#ifndef XGBGPU_QUANTILE_QUANTILE_POLICY_H_
#define XGBGPU_QUANTILE_QUANTILE_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct QuantilePolicy {
  /// Values of dense columns in one sort of pairs, but at least a column. The number fills a device, and its memory of
  /// 16 bytes a value (32 with weights) is small beside the data.
  std::uint64_t pairs_at_once{1 << 24};
  /// Least rows of columns that are sorted one by one, without pairs, if there are no weights. The launches of kernels
  /// would bound the sorts of shorter columns.
  std::uint64_t key_sort_from{1 << 18};
  /// Values of columns that are sorted one by one before the host looks at them. They take 8 bytes a value.
  std::uint64_t keys_at_once{1 << 28};
  /// Keys whose sort fills a device.
  std::uint64_t keys_that_fill{1 << 25};
  /// Least rows of each device from which devices give each other columns to sort. With shorter columns a copy for each
  /// column and device would take longer than the transfer of keys.
  std::uint64_t least_shared_rows{1 << 16};
  /// Largest share of a device's free memory for raw data and scratch while a matrix is built. The remaining memory is
  /// for the driver, and for rounded sizes.
  double memory_share{0.85};
  /// If memory runs out nevertheless, the search restarts with half of it, but not with less than this.
  std::size_t least_bytes{256 << 20};
  /// Least memory for counters of keys, even if the caller allows less. The pieces in flight take as much.
  std::size_t least_counter_bytes{16 << 20};
  /// Least share of stored values from which data count as dense, as on the host. A value of a sparse matrix costs two
  /// bytes (in CSR four), and an addition that may collide with others.
  double dense_from{0.5};
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_QUANTILE_POLICY_H_
