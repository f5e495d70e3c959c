/// Asks the CUDA driver what it knows of an address, without starting it.
#ifndef XGBGPU_USER_ARRAYS_DEVICE_POINTER_H_
#define XGBGPU_USER_ARRAYS_DEVICE_POINTER_H_

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstddef>

namespace xgbgpu {

/// Returns how many libraries this process has loaded so far.
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

/// Returns the driver's cuPointerGetAttribute, or null if nothing in the process has loaded the driver. This function
/// does not load it.
inline GetPointerAttribute FindGetPointerAttribute() {
  static std::atomic<GetPointerAttribute> found{nullptr};
  static std::atomic<unsigned long long> libraries_without{0};
  if (auto const get = found.load()) return get;
  // A search for a library that is not loaded goes through folders, which takes longer than setting the labels of a
  // small matrix. So it is repeated only after another library has been loaded.
  unsigned long long const libraries = LoadedLibraries();
  if (libraries == libraries_without.load()) return nullptr;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // stays open, so the driver stays loaded
  auto const get =
      driver == nullptr ? nullptr : reinterpret_cast<GetPointerAttribute>(dlsym(driver, "cuPointerGetAttribute"));
  if (get == nullptr) libraries_without = libraries;
  found = get;
  return get;
}

/// Tells whether this process has started CUDA, in this library or in another, and `address` is memory of a device.
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

#endif  // XGBGPU_USER_ARRAYS_DEVICE_POINTER_H_
