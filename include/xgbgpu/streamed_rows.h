/// Rows on a device that are never in memory all at once: their owner makes the tables anew for every pass.
/// docs/adr/0024-pages.md
#ifndef XGBGPU_STREAMED_ROWS_H_
#define XGBGPU_STREAMED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/device_rows.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Makes tables one after the other, any number of times.
class TableStream {
 public:
  TableStream() = default;
  virtual ~TableStream() = default;
  TableStream(TableStream const&) = delete;
  TableStream& operator=(TableStream const&) = delete;

  /// Restarts before the first table.
  virtual void Restart() = 0;
  /// Returns the next table, valid until the next call, or null after the last table.
  virtual DeviceTable const* Next() = 0;
};

/// Bounds of streaming.
struct StreamPolicy {
  /// Tables are streamed if their values, as floats, take more than this part of the device's free memory.
  double most_share{0.25};
  /// Floats on the device at a time: at most this part of the free memory …
  double window_share{1.0 / 16};
  /// … and at most this number of bytes.
  std::size_t window_bytes{std::size_t{1} << 30};
  /// Streaming needs at least this much free memory: cuts and bins take memory, too.
  std::size_t least_free_bytes{std::size_t{64} << 20};
};

/// The result of the first pass over tables.
struct XGBGPU_API StreamShape {
  int device;
  FeatureIndex features;
  std::vector<std::uint64_t> table_rows;  ///< rows of each table

  std::uint64_t rows() const;
};

/// Returns true if tables of this shape are too large for the device all at once.
XGBGPU_API bool MustStream(StreamShape const& shape, StreamPolicy const& policy);
/// Throws OutOfDeviceMemory if the device has too little memory even for streaming.
XGBGPU_API void CheckRoomForStream(StreamShape const& shape, StreamPolicy const& policy);

/// The rows of tables as float32 arrays, a few rows at a time, whatever the tables' sizes. Every pass over the rows is
/// a pass over the tables. One thread makes one pass at a time.
///
/// Memory  the policy's floats, and a table
/// Throws  InvalidArgument: a pass differs from the first in a table or its rows, or from the second in values; a value
/// is infinite; and as DeviceRowsBuilder. Also the stream's exceptions
class XGBGPU_API StreamedRows final : public RowSource {
 public:
  /// `tables` must outlive this object. Values equal to `missing`, and NaNs, are missing. categorical: as in RowSource.
  StreamedRows(TableStream* tables, StreamShape shape, float missing, std::vector<std::uint8_t> categorical,
               StreamPolicy const& policy);

  std::uint64_t rows() const override { return rows_; }
  FeatureIndex features() const override { return shape_.features; }
  Span<std::uint8_t const> categorical() const override { return categorical_; }
  std::optional<DenseValues> arrays() const override;
  void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const override;
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override;

 private:
  void ForEachWindow(std::function<void(DeviceRows const&, std::uint64_t first_row)> const& visit) const;
  DeviceTable const& NextTable(std::size_t number) const;
  /// Throws unless the window has the same rows as in the second pass.
  void CheckWindow(DeviceRows const& window, std::uint64_t first_row) const;

  TableStream* tables_;
  StreamShape shape_;
  std::uint64_t rows_;
  float missing_;
  std::vector<std::uint8_t> categorical_;
  std::uint64_t window_rows_;
  mutable int pass_{1};                           ///< the first pass found the shape
  mutable std::vector<std::uint64_t> checksums_;  ///< checksums of the windows of the second pass
};

}  // namespace xgbgpu

#endif  // XGBGPU_STREAMED_ROWS_H_
