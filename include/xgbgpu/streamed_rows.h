/// Rows on a device that are never there all at once: tables that their owner makes anew for every pass.
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

/// Hands tables over, one after the other, as often as needed.
class TableStream {
 public:
  TableStream() = default;
  virtual ~TableStream() = default;
  TableStream(TableStream const&) = delete;
  TableStream& operator=(TableStream const&) = delete;

  /// Goes back before the first table.
  virtual void Restart() = 0;
  /// Returns the next table, which is there until the next call; null after the last one.
  virtual DeviceTable const* Next() = 0;
};

/// When tables are streamed, and how.
struct StreamPolicy {
  /// They are if their values take more than this part of the device's free memory, as floats.
  double most_share{0.25};
  /// Floats on the device at a time: at most this part of what is free …
  double window_share{1.0 / 16};
  /// … and so many bytes.
  std::size_t window_bytes{std::size_t{1} << 30};
  /// With less free memory it is not even tried: cuts and bins need room, too.
  std::size_t least_free_bytes{std::size_t{64} << 20};
};

/// What a first pass over tables found.
struct XGBGPU_API StreamShape {
  int device;
  FeatureIndex features;
  std::vector<std::uint64_t> table_rows;  ///< of each table

  std::uint64_t rows() const;
};

/// Are tables of this shape too large to be on their device all at once?
XGBGPU_API bool MustStream(StreamShape const& shape, StreamPolicy const& policy);
/// Throws OutOfDeviceMemory if the device has too little memory even for streaming.
XGBGPU_API void CheckRoomForStream(StreamShape const& shape, StreamPolicy const& policy);

/// The rows of tables as arrays of float32, some rows at a time, whatever the tables' sizes. Every pass over the rows
/// is one over the tables; one thread makes one pass at a time.
///
/// Memory  floats as the policy says, beside a table
/// Throws  InvalidArgument: a pass has other tables than the first (which of them, and its rows), or other values than
///         the second; a value is infinite; and as DeviceRowsBuilder. What the stream throws
class XGBGPU_API StreamedRows final : public RowSource {
 public:
  /// `tables` must outlive it. missing: values equal to it, and NaNs, are missing. categorical: as in RowSource.
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
  /// Throws unless the rows that the window has are what they were.
  void CheckWindow(DeviceRows const& window, std::uint64_t first_row) const;

  TableStream* tables_;
  StreamShape shape_;
  std::uint64_t rows_;
  float missing_;
  std::vector<std::uint8_t> categorical_;
  std::uint64_t window_rows_;
  mutable int pass_{1};                           ///< the first was made by whoever found the shape
  mutable std::vector<std::uint64_t> checksums_;  ///< of each window of the second pass
};

}  // namespace xgbgpu

#endif  // XGBGPU_STREAMED_ROWS_H_
