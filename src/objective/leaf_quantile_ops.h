/// Maths of the quantile of a leaf.
#ifndef XGBGPU_OBJECTIVE_LEAF_QUANTILE_OPS_H_
#define XGBGPU_OBJECTIVE_LEAF_QUANTILE_OPS_H_

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

/// Where a quantile lies among sorted residuals.
struct QuantilePlace {
  std::uint64_t low;
  bool is_end;      ///< the quantile is the residual at `low`, the first or last one
  double fraction;  ///< of the way from the residual at `low` to the next one
};

/// Returns the place of the quantile alpha of n > 0 residuals: residual k is the quantile k / (n + 1), for k from 1.
XGBGPU_HD QuantilePlace PlaceOfQuantile(std::uint64_t n, double alpha) {
  double const place = alpha * (static_cast<double>(n) + 1.0);
  if (place <= 1.0) return {0, true, 0.0};
  if (place >= static_cast<double>(n)) return {n - 1, true, 0.0};
  std::uint64_t const low = static_cast<std::uint64_t>(place) - 1;
  return {low, false, (place - 1.0) - static_cast<double>(low)};
}

/// Returns the quantile from the residual at `low` and the next one. Rounds where stock does. Inside, the sign of zeros
/// does not matter.
XGBGPU_HD float QuantileOf(QuantilePlace const& place, float low, float next) {
  if (place.is_end) return low;
  float const gap = next - low;
  return static_cast<float>(low + place.fraction * gap);
}

/// Returns the index of the first of n > 0 ascending sums of weights that is at least the share alpha of the last.
XGBGPU_HD std::uint64_t ShareOfWeight(float const* sums, std::uint64_t n, double alpha) {
  auto const share = static_cast<float>(sums[n - 1] * alpha);
  return FirstWhere(std::uint64_t{0}, n - 1, [&](std::uint64_t i) { return !(sums[i] < share); });
}

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_LEAF_QUANTILE_OPS_H_
