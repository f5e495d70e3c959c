/// How the device's quantile stage divides its work, as numbers.
#ifndef XGBGPU_QUANTILE_QUANTILE_POLICY_H_
#define XGBGPU_QUANTILE_QUANTILE_POLICY_H_

#include <cstdint>

namespace xgbgpu {

struct QuantilePolicy {
  /// Values of dense columns that one sort takes, a column at least: enough to fill a device, few enough that 16 bytes
  /// for each (32 with weights) are little beside the data.
  std::uint64_t pairs_at_once{1 << 24};
  /// Share of a device's free memory for raw data and scratch. The rest: what the driver takes beside, sizes rounded
  /// up.
  double memory_share{0.85};
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_QUANTILE_POLICY_H_
