/// Asks the CUDA driver what it knows of an address, without starting it.
#ifndef XGBGPU_DRIVER_DEVICE_POINTER_H_
#define XGBGPU_DRIVER_DEVICE_POINTER_H_

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstddef>

namespace xgbgpu {

/// How many libraries this process has loaded so far.
inline unsigned long long LoadedLibraries() {
  unsigned long long count = 0;
  auto const note = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<unsigned long long*>(to) = info->dlpi_adds;
    return 1;  // one library knows
  };
  dl_iterate_phdr(note, &count);
  return count;
}

using GetPointerAttribute = int (*)(void* value, int attribute, unsigned long long address);

/// The driver's cuPointerGetAttribute, or null if nobody in the process has loaded the driver: we do not.
inline GetPointerAttribute FindGetPointerAttribute() {
  static std::atomic<GetPointerAttribute> found{nullptr};
  static std::atomic<unsigned long long> libraries_without{0};
  if (auto const get = found.load()) return get;
  // The loader looks through folders for a library that is not there. Labels of a small matrix take less time than that.
  unsigned long long const libraries = LoadedLibraries();
  if (libraries == libraries_without.load()) return nullptr;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // stays open: the driver cannot go any more
  auto const get =
      driver == nullptr ? nullptr : reinterpret_cast<GetPointerAttribute>(dlsym(driver, "cuPointerGetAttribute"));
  if (get == nullptr) libraries_without = libraries;
  found = get;
  return get;
}

/// True if this process has started CUDA, in this library or in another, and `address` is memory of a device.
inline bool IsDeviceMemory(void const* address) {
  auto const get = FindGetPointerAttribute();
  constexpr int kMemoryType = 2;         // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  constexpr unsigned kDeviceMemory = 2;  // CU_MEMORYTYPE_DEVICE
  unsigned type = 0;
  // The driver refuses addresses that it does not know, and all of them in a process that has not started it.
  bool const is_known = get != nullptr && get(&type, kMemoryType, reinterpret_cast<unsigned long long>(address)) == 0;
  return is_known && type == kDeviceMemory;
}

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_DEVICE_POINTER_H_
