/// Rows on a device that are read table by table: their owner produces the tables again for every pass.
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

/// Produces tables, one after another, any number of times. A program implements it.
class TableStream {
 public:
  TableStream() = default;
  virtual ~TableStream() = default;
  TableStream(TableStream const&) = delete;
  TableStream& operator=(TableStream const&) = delete;

  /// Begins a new pass: the next table is the first.
  virtual void Restart() = 0;
  /// Returns the next table, or null after the last one. The table is valid until the next call.
  virtual DeviceTable const* Next() = 0;
};

/// Limits that decide when tables are streamed, and in which windows.
struct StreamPolicy {
  /// Tables are streamed if their values, as floats, take more than this share of the device's free memory.
  double most_share{0.25};
  /// A window of floats takes at most this share of the free memory.
  double window_share{1.0 / 16};
  /// A window takes at most this many bytes.
  std::size_t window_bytes{std::size_t{1} << 30};
  /// Streaming needs at least this much free memory, because cuts and bins need room, too.
  std::size_t least_free_bytes{std::size_t{64} << 20};
};

/// The shape that a first pass over the tables found.
struct XGBGPU_API StreamShape {
  int device;
  FeatureIndex features;
  std::vector<std::uint64_t> table_rows;  ///< [tables] number of rows

  std::uint64_t rows() const;
};

/// Returns true if tables of this shape are too large to be on their device all at once.
XGBGPU_API bool MustStream(StreamShape const& shape, StreamPolicy const& policy);
/// Throws OutOfDeviceMemory if the device has too little free memory even for streaming.
XGBGPU_API void CheckRoomForStream(StreamShape const& shape, StreamPolicy const& policy);

/// The rows of tables as arrays of float32, in windows that do not depend on the tables' sizes. Each pass over the rows
/// is one pass over the tables. One thread makes one pass at a time.
///
/// Memory  one window of floats (StreamPolicy), beside a table
/// Throws  InvalidArgument: a pass has other tables than the first one (the message names the table and its rows), or
///         other values than the second one; a value is infinite. Also as DeviceRowsBuilder, and as the stream
class XGBGPU_API StreamedRows final : public RowSource {
 public:
  /// `tables` must outlive it. Values equal to `missing`, and NaNs, are missing. `categorical`: as in RowSource.
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
  /// Throws unless the window has the values of the second pass.
  void CheckWindow(DeviceRows const& window, std::uint64_t first_row) const;

  TableStream* tables_;
  StreamShape shape_;
  std::uint64_t rows_;
  float missing_;
  std::vector<std::uint8_t> categorical_;
  std::uint64_t window_rows_;
  mutable int pass_{1};                           ///< the first pass found the shape
  mutable std::vector<std::uint64_t> checksums_;  ///< of each window of the second pass
};

}  // namespace xgbgpu

#endif  // XGBGPU_STREAMED_ROWS_H_
