/// The user's arrays in the memory of a CUDA device, as the CUDA array interface (JSON) describes them.
#ifndef XGBGPU_PLUGIN_DATA_DEVICE_ARRAYS_H_
#define XGBGPU_PLUGIN_DATA_DEVICE_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/buffer.h"
#include "data/held_rows.h"
#include "xgbgpu/device_rows.h"

namespace xgbgpu::plugin {

/// Reads the interface of an array of one or two dimensions, or a list of interfaces, one for each column.
/// Throws InvalidArgument (no interface; a type that is no number of 1 to 8 bytes; columns or masks of other lengths;
/// no row or no column).
DeviceTable ParseDeviceTable(char const* interfaces);

/// Copies an array on a device into rows that stay there until stock code asks for them.
/// Throws InvalidArgument (an infinite value, in XGBoost's words), and as DeviceRowsBuilder (xgbgpu/device_rows.h).
std::unique_ptr<HeldRows> HoldDeviceRows(DeviceTable const& table, float missing);

/// Copies a sequence of arrays on a device into rows that stay there.
class HeldDeviceRowsBuilder {
 public:
  /// Makes room on the device. Throws OutOfDeviceMemory, DeviceError.
  HeldDeviceRowsBuilder(int device, std::uint64_t rows, std::size_t columns);
  void Append(DeviceTable const& table, float missing) { builder_->Append(table, missing); }
  /// Returns the rows, once; null if a value is infinite.
  std::unique_ptr<HeldRows> Finish();

 private:
  std::unique_ptr<DeviceRowsBuilder> builder_;
};

/// An array of float32 on the host.
struct HostTable {
  Buffer<float> values;  ///< [rows, columns], NaN where a value is missing
  std::uint64_t rows;
  std::uint64_t columns;

  std::string text() const;  ///< its array interface
};
/// Copies an array on a device, whatever its type, to the host. Throws as DeviceRowsBuilder.
HostTable BringToHost(DeviceTable const& table);

/// Values on a device that are predicted in place. XGBoost gets a buffer of their size on the host. The buffer is
/// filled only if XGBoost predicts itself.
class ValuesOnDevice {
 public:
  explicit ValuesOnDevice(DeviceTable table);
  ValuesOnDevice(ValuesOnDevice const&) = delete;
  ValuesOnDevice& operator=(ValuesOnDevice const&) = delete;

  int device() const { return device_; }
  /// Returns the array interface of the buffer on the host.
  char const* text() const { return text_.c_str(); }
  /// Returns the values on their device; null if the device has no room, or a value is infinite. Throws as
  /// DeviceRowsBuilder.
  std::unique_ptr<RowSource> Rows(float missing) const;
  /// Must be called by the booster that predicts. Unless `is_predicted`, fills the buffer for XGBoost.
  void Settle(bool is_predicted);
  bool is_settled() const { return is_settled_; }

 private:
  DeviceTable table_;
  int device_;
  Buffer<float> room_;
  std::string text_;
  bool is_settled_{false};
};

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

#endif  // XGBGPU_PLUGIN_DATA_DEVICE_ARRAYS_H_
