// Makes the entries and tiles of sorted columns and copies them to a device.
#include "exact/device_columns.h"

#include <algorithm>

#include "base/buffer.h"
#include "base/message.h"
#include "base/parallel.h"

namespace xgbgpu::cuda {

namespace {

/// Returns the first tiles of all columns, then the second tiles, and so on. A tile waits for the tile before it in its
/// column, so both should be far apart.
std::vector<ExactTile> MakeTiles(SortedMatrix const& matrix) {
  std::vector<std::vector<ExactTile>> by_index;
  std::uint32_t place = 0;
  for (FeatureIndex f = 0; f < matrix.features(); ++f) {
    std::uint64_t const tiles = (matrix.column(f).size() + kTileEntries - 1) / kTileEntries;
    if (by_index.size() < tiles) by_index.resize(tiles);
    for (std::uint32_t i = 0; i < tiles; ++i) by_index[i].push_back({f, i, place++});
  }
  std::vector<ExactTile> all;
  for (auto const& tiles : by_index) all.insert(all.end(), tiles.cbegin(), tiles.cend());
  return all;
}

Buffer<std::uint32_t> MakeEntries(SortedMatrix const& matrix, int threads) {
  Buffer<std::uint32_t> entries{matrix.stored()};
  ParallelTasks(threads, matrix.features(), [&](std::size_t f, int) {
    Span<SortedValue const> const column = matrix.column(static_cast<FeatureIndex>(f));
    std::uint32_t* const out = entries.data() + matrix.column_ptr[f];
    for (std::size_t i = 0; i < column.size(); ++i) {
      bool const is_new = i == 0 || column[i].value != column[i - 1].value;
      out[i] = column[i].row | (is_new ? kNewValue : 0U);
    }
  });
  return entries;
}

std::uint64_t CheckRows(std::uint64_t rows) {
  if (rows > kMostExactRows) {
    Throw<InvalidArgument>("The matrix has ", rows, " rows; allowed with gpu_exact on a device: ", kMostExactRows,
                           " at most");
  }
  return rows;
}

}  // namespace

DeviceColumns::DeviceColumns(SortedMatrix const& matrix, int threads, DeviceArena* arena)
    : rows_{CheckRows(matrix.rows)}, features_{matrix.features()}, used_(matrix.features(), 1) {
  std::vector<std::uint8_t> is_dense, ascends;
  for (FeatureIndex f = 0; f < features_; ++f) {
    is_dense.push_back(matrix.IsDense(f) ? 1 : 0);
    ascends.push_back(!matrix.IsDense(f) && !matrix.IsConstant(f) ? 1 : 0);
    has_missing_ = has_missing_ || !matrix.IsDense(f);
  }
  char const* const kPart = "columns";
  Buffer<std::uint32_t> const entries = MakeEntries(matrix, threads);
  entries_ = Upload(arena, kPart, entries.data(), entries.size());
  column_ptr_ = Upload(arena, kPart, matrix.column_ptr.data(), matrix.column_ptr.size());
  is_dense_ = Upload(arena, kPart, is_dense.data(), is_dense.size());
  ascends_ = Upload(arena, kPart, ascends.data(), ascends.size());
  used_on_device_ = Upload(arena, kPart, used_.data(), used_.size());
  std::vector<ExactTile> const tiles = MakeTiles(matrix);
  tiles_ = Upload(arena, kPart, tiles.data(), tiles.size());
}

void DeviceColumns::Use(std::vector<FeatureIndex> const& features, cudaStream_t stream) {
  std::vector<std::uint8_t> used(features_, 0);
  for (FeatureIndex const f : features) used[f] = 1;
  if (used == used_) return;
  used_ = std::move(used);
  CopyToDevice(used_on_device_.data(), used_.data(), used_.size(), stream, "choosing features");
}

ExactColumns DeviceColumns::View() const {
  return {rows_,
          features_,
          column_ptr_.data(),
          entries_.data(),
          is_dense_.data(),
          ascends_.data(),
          used_on_device_.data(),
          tiles_.data(),
          static_cast<std::uint32_t>(tiles_.size())};
}

}  // namespace xgbgpu::cuda
