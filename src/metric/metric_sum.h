/// Sums over rows in a fixed order.
#ifndef XGBGPU_METRIC_METRIC_SUM_H_
#define XGBGPU_METRIC_METRIC_SUM_H_

#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

// The order of a sum of doubles. Items 0 … n - 1 are cut into blocks of kSumBlock. In a block, lane l of kSumLanes adds
// items l, l + kSumLanes, l + 2 kSumLanes … one after another, from 0. Then lanes are added in pairs: in each group of
// kSumGroup lanes l + (l + 16), then l + (l + 8) … l + (l + 1), and then the groups' sums at distances 4, 2, 1. The
// sums of blocks are added in the same way, as one block of any length. So the order depends on n only. The host's
// threads and the device's grid take whole blocks. A chain of additions has length 8 + 8 + n / (kSumBlock · kSumLanes)
// + 8. The relative error for terms of one sign is below 2^-53 times the length: 2^-48 for 500 000 rows.
constexpr std::uint32_t kSumLanes = 256;
constexpr std::uint32_t kSumGroup = 32;  ///< a warp of a device
constexpr std::uint32_t kSumGroups = kSumLanes / kSumGroup;
constexpr std::uint32_t kSumBlock = 8 * kSumLanes;

XGBGPU_HD std::uint64_t SumBlocks(std::uint64_t n) { return (n + kSumBlock - 1) / kSumBlock; }

/// A sum over rows and targets. {} is the empty sum.
struct MetricSum {
  double loss;
  double weight;
  std::uint64_t bad;  ///< first row whose label is no class, with its label: see BadLabel; 0: none
};

/// Returns `a + b` of summands: the overload that distinguishes MetricSum from areas.
XGBGPU_HD MetricSum Combine(MetricSum const& a, MetricSum const& b) {
  return {a.loss + b.loss, a.weight + b.weight, a.bad > b.bad ? a.bad : b.bad};
}
XGBGPU_HD double Combine(double a, double b) { return a + b; }

/// Returns a number that is largest for the first row. Not 0: there are less than 2^32 - 1 rows.
XGBGPU_HD std::uint64_t BadLabel(std::uint64_t row, float label) {
  return (std::uint64_t{0xFFFFFFFFU} - row) << 32 | FloatBits(label);
}

/// Returns the metric from its sum. Throws InvalidArgument if a label is no class.
double FinishSum(MetricParams const& params, MetricSum const& sum, std::uint32_t classes);

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_METRIC_SUM_H_
