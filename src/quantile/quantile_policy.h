/// The numbers by which the device's quantile stage divides its work.
#ifndef XGBGPU_QUANTILE_QUANTILE_POLICY_H_
#define XGBGPU_QUANTILE_QUANTILE_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct QuantilePolicy {
  /// Values of dense columns that one sort of pairs takes, a column at least: enough to fill a device, few enough that
  /// 16 bytes for each (32 with weights) are little beside the data.
  std::uint64_t pairs_at_once{1 << 24};
  /// Columns of so many rows are sorted one by one, without pairs, if there are no weights: shorter ones would be bound
  /// by launches.
  std::uint64_t key_sort_from{1 << 18};
  /// Values of columns that are sorted one by one before the host looks at them: 8 bytes for each.
  std::uint64_t keys_at_once{1 << 28};
  /// Keys whose sort fills a device.
  std::uint64_t keys_that_fill{1 << 25};
  /// Share of a device's free memory for raw data and scratch at most, while a matrix is built. The rest: what the
  /// driver takes beside, sizes rounded up. All columns of dense data at once take 4 bytes a value, and what sorting
  /// takes; with less, the source is read once for each group of columns.
  double memory_share{0.85};
  /// If memory is short all the same, building goes on in half of it, but not in less than this.
  std::size_t least_bytes{256 << 20};
  /// A matrix is dense from this share of stored values on, as on the host: a sparse value costs two bytes, in CSR
  /// four, and an addition that may meet others.
  double dense_from{0.5};
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_QUANTILE_POLICY_H_
