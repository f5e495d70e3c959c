/// Sizes of a computation on a device, for messages of its errors.
#ifndef XGBGPU_CORE_WORK_SIZES_H_
#define XGBGPU_CORE_WORK_SIZES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/message.h"
#include "xgbgpu/error.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

struct WorkSizes {
  int device;
  std::uint64_t rows;
  FeatureIndex features;
  std::size_t bytes;  ///< device memory of a training or a matrix; 0: unknown
};

[[noreturn]] inline void ThrowWithSizes(DeviceError const& error, WorkSizes const& sizes) {
  std::string const held = sizes.bytes == 0 ? "" : Message(", with ", sizes.bytes, " bytes of its memory held");
  Throw<DeviceError>(error.what(), ". Sizes: ", sizes.rows, " rows, ", sizes.features, " features on CUDA device ",
                     sizes.device, held);
}

/// Calls body(). Adds the numbers of sizes() to a DeviceError that leaves it. An OutOfDeviceMemory has its own numbers.
template <typename Sizes, typename Body>
decltype(auto) NamingSizes(Sizes&& sizes, Body&& body) {
  try {
    return body();
  } catch (OutOfDeviceMemory const&) {
    throw;
  } catch (DeviceError const& error) {
    ThrowWithSizes(error, sizes());
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_WORK_SIZES_H_
