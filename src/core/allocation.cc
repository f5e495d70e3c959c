// Replaces operator new, plain and aligned, in the library that links this file: an allocation that fails says how much
// was asked for, std::vector's and all others.
//
// The linker puts these functions in the place of operator new for the code of that library alone (--wrap in
// CMakeLists.txt). Memory comes from the same operator as ever; XGBoost and the program see no change.
#include <cstddef>
#include <new>

#include "base/host_memory.h"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names that --wrap gives
extern "C" {

void* __real__Znwm(std::size_t bytes);
void* __real__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t alignment);

void* __wrap__Znwm(std::size_t bytes) {
  try {
    return __real__Znwm(bytes);
  } catch (std::bad_alloc const&) {
    throw xgbgpu::OutOfHostMemory{bytes};
  }
}

void* __wrap__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t alignment) {
  try {
    return __real__ZnwmSt11align_val_t(bytes, alignment);
  } catch (std::bad_alloc const&) {
    throw xgbgpu::OutOfHostMemory{bytes};
  }
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
