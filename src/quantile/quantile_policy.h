/// The numbers by which the device's quantile stage divides its work.
#ifndef XGBGPU_QUANTILE_QUANTILE_POLICY_H_
#define XGBGPU_QUANTILE_QUANTILE_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct QuantilePolicy {
  /// One sort of pairs takes so many values of dense columns, but at least a column. They are enough to fill a device,
  /// and so few that 16 bytes for each (32 with weights) are little beside the data.
  std::uint64_t pairs_at_once{1 << 24};
  /// Columns of at least so many rows are sorted one by one, without pairs, if there are no weights. The launches of
  /// kernels would bound the sorts of shorter ones.
  std::uint64_t key_sort_from{1 << 18};
  /// Columns of so many values are sorted one by one before the host looks at them. They take 8 bytes a value.
  std::uint64_t keys_at_once{1 << 28};
  /// The sort of so many keys fills a device.
  std::uint64_t keys_that_fill{1 << 25};
  /// Devices that have so many rows each, or more, give each other columns to sort. A copy for each column and device
  /// would take longer than the keys on the way if columns were shorter.
  std::uint64_t least_shared_rows{1 << 16};
  /// While a matrix is built, raw data and scratch take at most this share of a device's free memory. The rest is for
  /// the driver, and for sizes that are rounded up.
  double memory_share{0.85};
  /// If memory is short all the same, the search begins again in half of it, but not in less than this.
  std::size_t least_bytes{256 << 20};
  /// Counters of keys take so much even if the caller allows less. It is as little as the pieces on their way.
  std::size_t least_counter_bytes{16 << 20};
  /// Data count as dense from this share of stored values on, as on the host. A value of a sparse matrix costs two
  /// bytes (in CSR four), and an addition that may collide with others.
  double dense_from{0.5};
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_QUANTILE_POLICY_H_
