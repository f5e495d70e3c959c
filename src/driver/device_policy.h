/// Tuning numbers of trainings on several devices. Changing one changes speed and memory, never a model.
#ifndef XGBGPU_DRIVER_DEVICE_POLICY_H_
#define XGBGPU_DRIVER_DEVICE_POLICY_H_

#include <algorithm>
#include <cstdint>

namespace xgbgpu {

struct DevicePolicy {
  /// Values that a device has at least: with fewer, what devices tell each other takes longer than they save.
  /// docs/log/2026-11-25-several-devices.md
  std::uint64_t least_values{40'000'000};
};

/// Returns how many of `wanted` devices, 1 or more, train fastest on data with so many values that are not missing.
inline int DevicesWorthWhile(int wanted, std::uint64_t values) {
  std::uint64_t const most = std::max<std::uint64_t>(1, values / DevicePolicy{}.least_values);
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), most));
}

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_DEVICE_POLICY_H_
