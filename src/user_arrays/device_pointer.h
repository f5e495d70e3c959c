/// Asks the CUDA driver about an address without starting the driver.
#ifndef XGBGPU_USER_ARRAYS_DEVICE_POINTER_H_
#define XGBGPU_USER_ARRAYS_DEVICE_POINTER_H_

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstddef>

namespace xgbgpu {

/// Returns the number of libraries that this process has loaded so far.
inline unsigned long long LoadedLibraries() {
  unsigned long long count = 0;
  auto const note = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<unsigned long long*>(to) = info->dlpi_adds;
    return 1;  // the first library of the list has the counter
  };
  dl_iterate_phdr(note, &count);
  return count;
}

using GetPointerAttributes = int (*)(unsigned n, int* attributes, void** values, unsigned long long address);

/// Returns the driver's cuPointerGetAttributes, or null if no library of the process has loaded the driver. Does not
/// load the driver.
inline GetPointerAttributes FindGetPointerAttributes() {
  static std::atomic<GetPointerAttributes> found{nullptr};
  static std::atomic<unsigned long long> libraries_without{0};
  if (auto const get = found.load()) return get;
  // A search for an unloaded library goes through folders, which takes longer than setting the labels of a small
  // matrix. So the search is repeated only after the process has loaded another library.
  unsigned long long const libraries = LoadedLibraries();
  if (libraries == libraries_without.load()) return nullptr;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // stays open, so the driver stays loaded
  auto const get =
      driver == nullptr ? nullptr : reinterpret_cast<GetPointerAttributes>(dlsym(driver, "cuPointerGetAttributes"));
  if (get == nullptr) libraries_without = libraries;
  found = get;
  return get;
}

/// Returns true if this process has started CUDA, in any library, and `address` is memory of a device.
inline bool IsDeviceMemory(void const* address) {
  auto const get = FindGetPointerAttributes();
  int memory_type = 2;                   // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  constexpr unsigned kDeviceMemory = 2;  // CU_MEMORYTYPE_DEVICE
  unsigned type = 0;
  void* value = &type;
  // The type of an unknown address is 0. In a process that has not started CUDA the driver refuses every address.
  bool const is_known =
      get != nullptr && get(1, &memory_type, &value, reinterpret_cast<unsigned long long>(address)) == 0;
  return is_known && type == kDeviceMemory;
}

}  // namespace xgbgpu

#endif  // XGBGPU_USER_ARRAYS_DEVICE_POINTER_H_
