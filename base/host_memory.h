/// Names the purpose of host memory that is short.
#ifndef XGBGPU_BASE_HOST_MEMORY_H_
#define XGBGPU_BASE_HOST_MEMORY_H_

#include "xgbgpu/error.h"

namespace xgbgpu {

/// Calls work(), which needs memory for `purpose`, and returns its result. Sets the purpose of an OutOfHostMemory that
/// leaves it.
template <typename F>
auto WithMemoryFor(char const* purpose, F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (OutOfHostMemory& e) {
    e.SetPurpose(purpose);
    throw;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_HOST_MEMORY_H_
