/// The check of margins that a caller gives or wants.
#ifndef XGBGPU_ROUNDS_CHECK_MARGINS_H_
#define XGBGPU_ROUNDS_CHECK_MARGINS_H_

#include <cstddef>
#include <cstdint>

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

/// Throws InvalidArgument unless `given` is the number of margins of `rows` rows with `outputs` outputs.
inline void CheckMargins(std::size_t given, std::uint64_t rows, std::uint32_t outputs) {
  if (given == rows * outputs) return;
  Throw<InvalidArgument>("There are ", given, " margins; allowed: ", outputs, " for each of the ", rows, " rows");
}

}  // namespace xgbgpu

#endif  // XGBGPU_ROUNDS_CHECK_MARGINS_H_
