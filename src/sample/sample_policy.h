/// Tuning numbers of samples on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_SAMPLE_SAMPLE_POLICY_H_
#define XGBGPU_SAMPLE_SAMPLE_POLICY_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace xgbgpu {

struct SamplePolicy {
  /// Room for a sample beyond its expected rows, in square roots of the expected number, each more than a standard
  /// deviation. A tree with a larger sample, one of 30,000 at most, is grown again with more room.
  double deviations{4};
};

/// Returns the number of rows to make room for, for samples of `expected` among `rows` rows.
inline std::uint32_t SampleCapacity(double expected, std::uint64_t rows) {
  double const most = expected + SamplePolicy{}.deviations * std::sqrt(expected) + 1;
  return static_cast<std::uint32_t>(std::min(most, static_cast<double>(rows)));
}

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_SAMPLE_POLICY_H_
