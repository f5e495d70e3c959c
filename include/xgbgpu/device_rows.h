/// Finds arrays of the user in the memory of a CUDA device, and copies them into rows of ours or to the host.
/// docs/adr/0019-the-users-array.md
#ifndef XGBGPU_DEVICE_ROWS_H_
#define XGBGPU_DEVICE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

enum class NumberType : std::uint8_t {
  kInt8,
  kUInt8,  ///< bool, too
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFloat16,
  kFloat32,
  kFloat64,
};

/// A column of numbers on a device.
struct DeviceColumn {
  void const* data;     ///< the value of the first row
  std::int64_t stride;  ///< bytes from one row to the next
  NumberType type;
  /// Null, or a bitmap on the same device: bit r % 8 of byte r / 8 is 1 if row r has a value. Rows of a table are
  /// counted from its first_bit.
  std::uint8_t const* valid;
};

/// Columns of the same number of rows.
struct DeviceTable {
  std::vector<DeviceColumn> columns;
  std::uint64_t rows;
  /// Bits of the bitmaps before that of the first row: 0 to 7.
  std::uint8_t first_bit{0};
  /// The CUDA stream that writes the values, as in the CUDA array interface: 1 and 2 are the default streams, others
  /// are handles; 0: they have been written.
  std::uintptr_t stream{0};
};

/// Returns the address so many bytes on. Nobody knows whether an address that a caller gives, and what is around it, is
/// memory: it is counted as a number, which may wrap around.
inline void const* AddressAt(void const* address, std::int64_t bytes) {
  return reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(bytes));
}

/// Returns rows [first, first + n) of a table.
inline DeviceTable RowsOf(DeviceTable table, std::uint64_t first, std::uint64_t n) {
  std::uint64_t const bit = table.first_bit + first;
  for (DeviceColumn& column : table.columns) {
    column.data = AddressAt(column.data, column.stride * static_cast<std::int64_t>(first));
    if (column.valid != nullptr) column.valid += bit / 8;
  }
  table.first_bit = static_cast<std::uint8_t>(bit % 8);
  table.rows = n;
  return table;
}

/// Returns the device in whose memory `address` is, or kHostMemory. It does not start CUDA, because a process that has
/// not used CUDA has no such memory. A build without CUDA returns 0 for every device.
XGBGPU_API int DeviceOf(void const* address);

/// Rows in the memory of a device. `dense` says where. ForEachBatch brings them to the host, 8 MiB or a row at a time.
class DeviceRows : public RowSource {
 public:
  virtual std::uint64_t present() const = 0;   ///< values that are not missing
  virtual bool has_infinite() const = 0;       ///< is one of them infinite? Stages must not read such rows.
  virtual std::uint64_t checksum() const = 0;  ///< of the values and their places: other ones have another checksum
  /// Copies rows [first, first + n) to `to` [n, features]. Missing values are NaN.
  virtual void CopyToHost(std::uint64_t first, std::uint64_t n, float* to) const = 0;
};

/// Copies tables, one after the other, to rows of float32 on a device.
class DeviceRowsBuilder {
 public:
  virtual ~DeviceRowsBuilder() = default;
  /// Copies the rows of `table` behind those of the tables before. Values equal to `missing`, and NaNs, are missing.
  /// The table may change once this returns.
  /// Throws InvalidArgument (the first or last byte of a column's values or bitmap is not in the device's memory; more
  /// rows or other columns than were announced), DeviceError.
  virtual void Append(DeviceTable const& table, float missing) = 0;
  /// Returns the rows, once. Throws InvalidArgument if there are fewer than were announced.
  virtual std::unique_ptr<DeviceRows> Finish() = 0;
};

/// Memory  4 bytes a value on the device
/// Throws  OutOfDeviceMemory, DeviceError; Unsupported in a build without CUDA
XGBGPU_API std::unique_ptr<DeviceRowsBuilder> MakeDeviceRowsBuilder(int device, std::uint64_t rows,
                                                                    FeatureIndex features);

/// Returns how much memory of the device all DeviceRows of this process hold, in bytes.
XGBGPU_API std::size_t DeviceRowsBytes(int device);

/// Returns how many bytes of the device's memory are free.
std::size_t FreeDeviceMemory(int device);

/// Remembers which device is current for this thread, and makes it so for functions of whoever called us.
class XGBGPU_API CallersDevice {
 public:
  CallersDevice();
  void Call(std::function<void()> const& function) const;

 private:
  [[maybe_unused]] int device_;  ///< nothing in a build without CUDA
};

/// Returns the device of the table's first column. Throws InvalidArgument if it is in no device's memory.
XGBGPU_API int DeviceOfTable(DeviceTable const& table);

/// Copies a table to rows on its own device. Memory and errors are those of a DeviceRowsBuilder.
XGBGPU_API std::unique_ptr<DeviceRows> CopyDeviceTable(DeviceTable const& table, float missing);

/// Copies a table to the host, some rows at a time: to [rows, columns] NaN where a value is missing.
/// Memory  up to 8 MiB on the device, or one row
/// Throws  as a DeviceRowsBuilder
XGBGPU_API void CopyDeviceTableToHost(DeviceTable const& table, float* to);

/// Waits for `stream` (DeviceTable::stream), then copies `bytes` bytes from a device to the host.
XGBGPU_API void CopyFromDevice(void const* from, std::size_t bytes, std::uintptr_t stream, void* to);

/// Floats on a device, for callers who read them there.
class DeviceFloats {
 public:
  virtual ~DeviceFloats() = default;
  virtual float const* data() const = 0;
};
XGBGPU_API std::unique_ptr<DeviceFloats> CopyFloatsToDevice(float const* from, std::size_t n, int device);

}  // namespace xgbgpu

#endif  // XGBGPU_DEVICE_ROWS_H_
