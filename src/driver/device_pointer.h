/// What the CUDA driver knows of an address, asked without starting it.
#ifndef XGBGPU_DRIVER_DEVICE_POINTER_H_
#define XGBGPU_DRIVER_DEVICE_POINTER_H_

#include <dlfcn.h>

namespace xgbgpu {

/// True if this process has started CUDA, in this library or in another, and `address` is memory of a device.
inline bool IsDeviceMemory(void const* address) {
  // The driver's library is there once somebody in the process has used CUDA; nobody else loads it.
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  using GetAttribute = int (*)(void* value, int attribute, unsigned long long address);
  auto const get = reinterpret_cast<GetAttribute>(dlsym(driver, "cuPointerGetAttribute"));
  dlclose(driver);
  constexpr int kMemoryType = 2;         // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  constexpr unsigned kDeviceMemory = 2;  // CU_MEMORYTYPE_DEVICE
  unsigned type = 0;
  // The driver refuses addresses that it does not know, and all of them in a process that has not started it.
  bool const is_known = get != nullptr && get(&type, kMemoryType, reinterpret_cast<unsigned long long>(address)) == 0;
  return is_known && type == kDeviceMemory;
}

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_DEVICE_POINTER_H_
