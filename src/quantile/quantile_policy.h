/// The numbers by which the device's quantile stage divides its work.
#ifndef XGBGPU_QUANTILE_QUANTILE_POLICY_H_
#define XGBGPU_QUANTILE_QUANTILE_POLICY_H_

#include <cstdint>

namespace xgbgpu {

struct QuantilePolicy {
  /// Values of dense columns that one sort takes, a column at least: enough to fill a device, few enough that 16 bytes
  /// for each (32 with weights) are little beside the data.
  std::uint64_t pairs_at_once{1 << 24};
  /// Memory for raw data and scratch: this for every row and column, so that building a matrix takes no more than
  /// training on it (docs/log/2026-11.md), but never less than least_bytes. More would save passes over the source: all
  /// columns at once take about 5 bytes a value.
  double bytes_per_value{3};
  double least_bytes{256 << 20};
  /// Share of a device's free memory for raw data and scratch at most. The rest: what the driver takes beside, sizes
  /// rounded up.
  double memory_share{0.85};
  /// A matrix is dense from this share of stored values on, as on the host: a sparse value costs two bytes, in CSR
  /// four, and an addition that may meet others.
  double dense_from{0.5};
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_QUANTILE_POLICY_H_
