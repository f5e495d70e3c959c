/// Many consecutive random blocks at once, for the host.
#ifndef XGBGPU_CORE_RANDOM_RUN_H_
#define XGBGPU_CORE_RANDOM_RUN_H_

#include <cstdint>

#include "core/random.h"

namespace xgbgpu {

/// Blocks of one call: enough for the vector unit, few enough for its registers and the first-level cache.
constexpr int kRandomRun = 16;

/// words[4·i … 4·i+3] = stream.Block(first + i) for i < kRandomRun.
void FillRandom(RandomStream const& stream, std::uint32_t first, std::uint32_t* words);

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_RANDOM_RUN_H_
