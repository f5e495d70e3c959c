/// Per-value maths of the histogram stage.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_OPS_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "core/fixed_point.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns the gradient in the upper and the hessian in the lower half of one word: one addition adds both. A negative
/// hessian borrows one from the upper half, which Unpack returns. Exact for sums of up to 2^16 narrow gradients
/// (core/fixed_point.h).
XGBGPU_HD std::int64_t Pack(NarrowGradient g) {
  return static_cast<std::int64_t>(g.grad) * (std::int64_t{1} << 32) + g.hess;
}

XGBGPU_HD GradientSum Unpack(std::int64_t packed) {
  std::int64_t const hess = static_cast<std::int32_t>(static_cast<std::uint32_t>(packed));
  return {(packed - hess) >> 32, hess};
}

}  // namespace xgbgpu

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_OPS_H_
