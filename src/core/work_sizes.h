/// What a computation on a device is about, for the messages of its errors.
#ifndef XGBGPU_CORE_WORK_SIZES_H_
#define XGBGPU_CORE_WORK_SIZES_H_

#include <cstddef>
#include <cstdint>

#include "base/message.h"
#include "xgbgpu/error.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

struct WorkSizes {
  int device;
  std::uint64_t rows;
  FeatureIndex features;
  std::size_t bytes;  ///< of device memory that a training or a matrix holds; 0 while it is not known
};

[[noreturn]] inline void ThrowWithSizes(DeviceError const& error, WorkSizes const& sizes) {
  std::ostringstream held;
  if (sizes.bytes != 0) held << ", with " << sizes.bytes << " bytes of its memory held";
  Throw<DeviceError>(error.what(), ". Sizes: ", sizes.rows, " rows, ", sizes.features, " features on CUDA device ",
                     sizes.device, held.str());
}

/// Calls body(). A DeviceError that it throws gets the numbers that sizes() returns; an OutOfDeviceMemory has its own.
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
