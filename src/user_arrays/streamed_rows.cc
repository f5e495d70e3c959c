// Streams tables on a device as windows of rows, and compares later passes with the first two.
#include "xgbgpu/streamed_rows.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "base/message.h"
#include "core/row_slice.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

constexpr char const* kAllowed = "; allowed: an iterator that gives the same batches in every pass";

std::uint64_t WindowRows(StreamShape const& shape, StreamPolicy const& policy) {
  double const bytes = std::min(static_cast<double>(policy.window_bytes),
                                policy.window_share * static_cast<double>(FreeDeviceMemory(shape.device)));
  auto const rows = static_cast<std::uint64_t>(bytes / static_cast<double>(shape.features * sizeof(float)));
  return rows < kRowStep ? std::max<std::uint64_t>(1, rows) : rows / kRowStep * kRowStep;
}

}  // namespace

std::uint64_t StreamShape::rows() const {
  return std::accumulate(table_rows.cbegin(), table_rows.cend(), std::uint64_t{0});
}

bool MustStream(StreamShape const& shape, StreamPolicy const& policy) {
  double const bytes = static_cast<double>(shape.rows()) * static_cast<double>(shape.features * sizeof(float));
  return bytes > policy.most_share * static_cast<double>(FreeDeviceMemory(shape.device));
}

void CheckRoomForStream(StreamShape const& shape, StreamPolicy const& policy) {
  std::size_t const free = FreeDeviceMemory(shape.device);
  if (free >= policy.least_free_bytes) return;
  Throw<OutOfDeviceMemory>("Reading batches on a GPU again and again needs ", policy.least_free_bytes,
                           " bytes of GPU memory; ", free, " are free on CUDA device ", shape.device,
                           ". Try smaller batches");
}

StreamedRows::StreamedRows(TableStream* tables, StreamShape shape, float missing, std::vector<std::uint8_t> categorical,
                           StreamPolicy const& policy)
    : tables_{tables},
      shape_{std::move(shape)},
      rows_{shape_.rows()},
      missing_{missing},
      categorical_{std::move(categorical)},
      window_rows_{WindowRows(shape_, policy)} {}

std::optional<DenseValues> StreamedRows::arrays() const {
  DenseValues common{nullptr};
  common.device = shape_.device;
  return common;
}

DeviceTable const& StreamedRows::NextTable(std::size_t number) const {
  std::size_t const tables = shape_.table_rows.size();
  DeviceTable const* const table = tables_->Next();
  if (table == nullptr) {
    Throw<InvalidArgument>("Pass ", pass_, " over the batches on a GPU ends after ", number, " batches; pass 1 had ",
                           tables, kAllowed);
  }
  bool const is_same = table->rows == shape_.table_rows[number] && table->columns.size() == shape_.features;
  if (!is_same) {
    Throw<InvalidArgument>("Batch ", number, " on a GPU has ", table->rows, " rows and ", table->columns.size(),
                           " columns in pass ", pass_, "; it had ", shape_.table_rows[number], " rows and ",
                           shape_.features, " columns in pass 1", kAllowed);
  }
  return *table;
}

void StreamedRows::CheckWindow(DeviceRows const& window, std::uint64_t first_row) const {
  std::uint64_t const last = first_row + window.rows() - 1, number = first_row / window_rows_;
  if (window.has_infinite()) {  // XGBoost's words
    Throw<InvalidArgument>("Input data contains `inf` or `nan`: rows ", first_row, " to ", last,
                           " of the batches on a GPU have an infinite value; allowed: finite ones");
  }
  if (number == checksums_.size()) checksums_.push_back(window.checksum());
  if (checksums_[number] == window.checksum()) return;
  Throw<InvalidArgument>("Rows ", first_row, " to ", last, " of the batches on a GPU have other values in pass ", pass_,
                         " than in pass 2", kAllowed);
}

void StreamedRows::ForEachWindow(std::function<void(DeviceRows const&, std::uint64_t)> const& visit) const {
  ++pass_;
  tables_->Restart();
  std::unique_ptr<DeviceRowsBuilder> window;  // rows from `first` on
  std::uint64_t first = 0, filled = 0;
  std::size_t const tables = shape_.table_rows.size();
  for (std::size_t t = 0; t < tables; ++t) {
    DeviceTable const& table = NextTable(t);
    for (std::uint64_t row = 0; row < table.rows;) {
      std::uint64_t const wanted = std::min(window_rows_, rows_ - first);
      if (window == nullptr) window = MakeDeviceRowsBuilder(shape_.device, wanted, shape_.features);
      std::uint64_t const take = std::min(wanted - filled, table.rows - row);
      window->Append(RowsOf(table, row, take), missing_);
      row += take;
      filled += take;
      if (filled != wanted) continue;
      auto const rows = std::exchange(window, nullptr)->Finish();
      CheckWindow(*rows, first);
      visit(*rows, first);
      first += std::exchange(filled, 0);
    }
  }
  if (tables_->Next() != nullptr) {
    Throw<InvalidArgument>("Pass ", pass_, " over the batches on a GPU goes on after the ", tables,
                           " batches that pass 1 had", kAllowed);
  }
}

void StreamedRows::ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const {
  ForEachWindow([&](DeviceRows const& rows, std::uint64_t first_row) {
    visit({*rows.dense(), first_row, rows.rows()});
  });
}

void StreamedRows::ForEachBatch(std::function<void(RowBatch const&)> const& visit) const {
  ForEachWindow([&](DeviceRows const& rows, std::uint64_t first_row) {
    rows.ForEachBatch([&](RowBatch batch) {
      batch.first_row += first_row;
      visit(batch);
    });
  });
}

}  // namespace xgbgpu
