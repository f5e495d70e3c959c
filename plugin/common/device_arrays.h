/// The user's arrays in the memory of a CUDA device, as the CUDA array interface (JSON) describes them.
#ifndef XGBGPU_PLUGIN_DEVICE_ARRAYS_H_
#define XGBGPU_PLUGIN_DEVICE_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/buffer.h"
#include "driver/device_rows.h"
#include "held_rows.h"

namespace xgbgpu::plugin {

/// Reads the interface of an array of one or two dimensions, or a list of interfaces, one for each column.
/// Throws InvalidArgument (no interface; a type that is no number of 1 to 8 bytes; columns or masks of other lengths;
/// no row or no column).
DeviceTable ParseDeviceTable(char const* interfaces);

/// Copies an array on a device into rows that stay there until stock code asks for them.
/// Throws InvalidArgument (ParseDeviceTable; an infinite value, in XGBoost's words), OutOfDeviceMemory, DeviceError.
std::unique_ptr<HeldRows> HoldDeviceRows(char const* interfaces, float missing);

/// An array of float32 on the host.
struct HostTable {
  Buffer<float> values;  ///< [rows, columns], NaN where a value is missing
  std::uint64_t rows;
  std::uint64_t columns;

  std::string text() const;  ///< its array interface
};
/// Copies an array on a device, whatever its type. Throws as ParseDeviceTable, DeviceError.
HostTable BringToHost(char const* interfaces);

/// An array that stock code reads, in the host's memory.
class HostArray {
 public:
  /// `interface`: of one array, or a list with one. Copies it if it is on a device.
  explicit HostArray(char const* interface);
  /// `n` values of `bytes` bytes.
  HostArray(void const* data, std::size_t n, std::size_t bytes);

  char const* text() const { return text_.empty() ? given_ : text_.c_str(); }
  void const* data() const { return data_; }

 private:
  char const* given_{nullptr};
  void const* data_{nullptr};
  std::string text_;
  Buffer<char> copy_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DEVICE_ARRAYS_H_
