/// Calls that read arrays in device memory, for the engine without CUDA.
#ifndef XGBGPU_BACKEND_DEVICE_ARRAYS_H_
#define XGBGPU_BACKEND_DEVICE_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "xgbgpu/device_rows.h"

namespace xgbgpu {

/// xgbgpu/device_rows.h has the contracts: each call does the work of the function in brackets.
class DeviceArrays {
 public:
  virtual ~DeviceArrays() = default;

  /// Returns the device that holds `address`, which is memory of some device. Throws DeviceError.
  virtual int DeviceOf(void const* address) const = 0;
  virtual int DeviceOf(DeviceTable const& table) const = 0;  ///< [DeviceOfTable]

  virtual std::unique_ptr<DeviceRowsBuilder> MakeRowsBuilder(
      int device, std::uint64_t rows,
      FeatureIndex features) const = 0;                   ///< [MakeDeviceRowsBuilder]
  virtual std::size_t BytesOfRows(int device) const = 0;  ///< [DeviceRowsBytes]
  virtual std::size_t FreeMemory(int device) const = 0;   ///< [FreeDeviceMemory]

  /// Returns the device that is current for this thread.
  virtual int CurrentDevice() const = 0;
  /// Calls function() while `device` is current.
  virtual void RunOn(int device, std::function<void()> const& function) const = 0;

  virtual std::unique_ptr<DeviceRows> Copy(DeviceTable const& table, float missing) const = 0;  ///< [CopyDeviceTable]
  virtual void CopyToHost(DeviceTable const& table, float* to) const = 0;  ///< [CopyDeviceTableToHost]
  /// [CopyFromDevice]
  virtual void CopyToHost(void const* from, std::size_t bytes, std::uintptr_t stream, void* to) const = 0;
  /// [CopyFloatsToDevice]
  virtual std::unique_ptr<DeviceFloats> CopyFloats(float const* from, std::size_t n, int device) const = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_DEVICE_ARRAYS_H_
