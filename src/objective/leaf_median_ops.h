/// Maths of the median of a leaf.
#ifndef XGBGPU_OBJECTIVE_LEAF_MEDIAN_OPS_H_
#define XGBGPU_OBJECTIVE_LEAF_MEDIAN_OPS_H_

#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "core/search.h"
#include "objective/rank_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns a key that increases with the residual. All NaNs have one key, above all others, because the processor
/// chooses the bits of a NaN.
XGBGPU_HD std::uint32_t ResidualKey(float residual) {
  return residual != residual ? 0xFFFFFFFFU : AscendingKey(residual);
}

/// Returns a key like ResidualKey, but -0 comes before 0: ValueOfKey returns the residual, unless it was NaN.
XGBGPU_HD std::uint32_t InvertibleKey(float residual) {
  return residual != residual ? 0xFFFFFFFFU : DistinctKey(residual);
}

/// Returns true if the row counts. A row without weight has no hessian either, and XGBoost counts it as outside the
/// sample.
XGBGPU_HD bool CountsInLeaf(NodeIndex position, float const* weights, std::uint64_t row) {
  return position >= 0 && (weights == nullptr || weights[row] != 0.0f);
}

/// Returns the place of the lower of the middle two of n > 0 sorted residuals, or of the only middle one.
XGBGPU_HD std::uint64_t MiddleOf(std::uint64_t n) { return (n - 1) / 2; }

/// Returns the median from the residual at MiddleOf(n) and the next one (the same residual if n is 1). Rounds where
/// stock does. With two or more residuals the sign of zeros does not matter.
XGBGPU_HD float MedianOf(std::uint64_t n, float middle, float next) {
  if (n == 1) return middle;
  double const fraction = n % 2 == 0 ? 0.5 : 0.0;
  float const gap = next - middle;
  return static_cast<float>(middle + fraction * gap);
}

/// Returns the index of the first of n > 0 ascending sums of weights that is at least half of the last.
XGBGPU_HD std::uint64_t HalfWeight(float const* sums, std::uint64_t n) {
  auto const half = static_cast<float>(sums[n - 1] * 0.5);
  return FirstWhere(std::uint64_t{0}, n - 1, [&](std::uint64_t i) { return !(sums[i] < half); });
}

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_LEAF_MEDIAN_OPS_H_
