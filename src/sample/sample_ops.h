/// Per-row maths of the sample stage.
#ifndef XGBGPU_SAMPLE_SAMPLE_OPS_H_
#define XGBGPU_SAMPLE_SAMPLE_OPS_H_

#include <cstdint>

#include "core/hd.h"

namespace xgbgpu {

/// A draw below this is in the sample; 2^32 (everything) needs the 64 bits.
XGBGPU_HD std::uint64_t SampleThreshold(float fraction) {
  return static_cast<std::uint64_t>(static_cast<double>(fraction) * 4294967296.0);
}

XGBGPU_HD bool IsSampled(std::uint32_t draw, std::uint64_t threshold) { return draw < threshold; }

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_SAMPLE_OPS_H_
