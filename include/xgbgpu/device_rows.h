/// Arrays of the caller in the memory of a CUDA device: finds them, copies them to rows of float32 or to the host.
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

/// The type of the numbers of a column.
enum class NumberType : std::uint8_t {
  kInt8,
  kUInt8,  ///< also bool
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
  void const* data;     ///< value of the first row
  std::int64_t stride;  ///< bytes from one row to the next
  NumberType type;
  /// Null, or a bitmap on the same device: bit r % 8 of byte r / 8 is 1 if row r has a value. Rows count from first_bit
  /// of the table.
  std::uint8_t const* valid;
};

/// Columns with the same number of rows.
struct DeviceTable {
  std::vector<DeviceColumn> columns;
  std::uint64_t rows;
  /// Number of bits before the bit of the first row in each bitmap: 0 to 7.
  std::uint8_t first_bit{0};
  /// The CUDA stream that writes the values, as in the CUDA array interface: 1 and 2 are the default streams, other
  /// numbers are handles. 0: the values are written.
  std::uintptr_t stream{0};
};

/// Returns the address `bytes` bytes further on. Addresses of a caller need not be memory, so they are added as
/// numbers, which may wrap around.
inline void const* AddressAt(void const* address, std::int64_t bytes) {
  return reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(bytes));
}

/// Returns rows [first, first + n) of a table, as a view of it.
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

/// Returns the ordinal of the device that holds `address`, or kHostMemory. Does not start CUDA: a process that has not
/// used CUDA has no device memory. A build without CUDA returns 0 for memory of any device.
XGBGPU_API int DeviceOf(void const* address);

/// Rows of float32 in the memory of a device. dense() returns their array. ForEachBatch copies them to the host, 8 MiB
/// or one row at a time.
class DeviceRows : public RowSource {
 public:
  virtual std::uint64_t present() const = 0;  ///< values that are not missing
  virtual bool has_infinite() const = 0;      ///< true if a value is infinite: no training or binning may read the rows
  virtual std::uint64_t checksum() const = 0;  ///< of the values and their places
  /// Copies rows [first, first + n) to `to` [n, features]. Missing values are NaN.
  virtual void CopyToHost(std::uint64_t first, std::uint64_t n, float* to) const = 0;
};

/// Copies tables, one after another, to rows of float32 on a device.
class DeviceRowsBuilder {
 public:
  virtual ~DeviceRowsBuilder() = default;
  /// Appends the rows of `table`. Values equal to `missing`, and NaNs, are missing. The table may change after the
  /// call.
  /// Throws  InvalidArgument (the first or last byte of a column's values or bitmap is not in the device's memory; more
  ///         rows or other columns than announced), DeviceError
  virtual void Append(DeviceTable const& table, float missing) = 0;
  /// Returns the rows. Call it once. Throws InvalidArgument if there are fewer rows than announced.
  virtual std::unique_ptr<DeviceRows> Finish() = 0;
};

/// Makes a builder of `rows` rows of `features` columns on a device.
///
/// Memory  4 bytes a value on the device
/// Throws  OutOfDeviceMemory, DeviceError; Unsupported in a build without CUDA
XGBGPU_API std::unique_ptr<DeviceRowsBuilder> MakeDeviceRowsBuilder(int device, std::uint64_t rows,
                                                                    FeatureIndex features);

/// Returns the bytes of the device's memory that all DeviceRows of this process hold.
XGBGPU_API std::size_t DeviceRowsBytes(int device);

/// Returns the free bytes of the device's memory.
XGBGPU_API std::size_t FreeDeviceMemory(int device);

/// Remembers the current CUDA device of this thread, and restores it while functions of the caller run.
class XGBGPU_API CallersDevice {
 public:
  CallersDevice();
  /// Calls function() with the remembered device as the current one.
  void Call(std::function<void()> const& function) const;

 private:
  [[maybe_unused]] int device_;  ///< unused in a build without CUDA
};

/// Returns the device of the table's first column. Throws InvalidArgument if the column is not in a device's memory.
XGBGPU_API int DeviceOfTable(DeviceTable const& table);

/// Copies a table to rows on its own device. Memory and errors: as DeviceRowsBuilder.
XGBGPU_API std::unique_ptr<DeviceRows> CopyDeviceTable(DeviceTable const& table, float missing);

/// Copies a table to `to` [rows, columns] on the host, in parts. Missing values become NaN.
///
/// Memory  up to 8 MiB on the device, or one row
/// Throws  as DeviceRowsBuilder
XGBGPU_API void CopyDeviceTableToHost(DeviceTable const& table, float* to);

/// Waits for `stream` (DeviceTable::stream), then copies `bytes` bytes from a device to the host.
XGBGPU_API void CopyFromDevice(void const* from, std::size_t bytes, std::uintptr_t stream, void* to);

/// Floats in the memory of a device.
class DeviceFloats {
 public:
  virtual ~DeviceFloats() = default;
  virtual float const* data() const = 0;
};
/// Copies `from` [n] to a device. Throws OutOfDeviceMemory, DeviceError.
XGBGPU_API std::unique_ptr<DeviceFloats> CopyFloatsToDevice(float const* from, std::size_t n, int device);

}  // namespace xgbgpu

#endif  // XGBGPU_DEVICE_ROWS_H_
