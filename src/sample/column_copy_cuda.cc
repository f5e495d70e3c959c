// Lays out copies of columns, and tells the device which feature is where.
#include "sample/column_copy_cuda.h"

#include <algorithm>
#include <limits>

#include "matrix/device_matrix_policy.h"
#include "sample/column_copy_policy.h"

namespace xgbgpu::cuda {

ColumnCopy::ColumnCopy(DeviceMatrix const& matrix, ColumnLists* lists, ClearedWorkspace* workspace)
    : matrix_{matrix}, lists_{*lists}, workspace_{workspace} {
  if (matrix.view.dense) {
    for (DeviceTile const& tile : matrix.tiles) {
      widest_.bins = std::max(widest_.bins, tile.bins);
      widest_.symbols = std::max(widest_.symbols, tile.symbols);
    }
  } else {
    for (FeatureIndex f = 0; f < matrix.view.features; ++f) widest_.bins = std::max(widest_.bins, matrix.cuts.bins(f));
    widest_.symbols = widest_.bins + 1;
  }
}

bool ColumnCopy::Serves(FeatureIndex columns, bool sampled) const {
  DeviceMatrixView const &whole = matrix_.view, copy = LayoutOf(columns);
  if (!matrix_.cuts.categorical.empty()) return false;
  // In core the levels of a dense matrix of one tile take little time, whatever its columns.
  if (whole.dense) return matrix_.pages != nullptr || whole.tiles > 1;
  bool const fits_shared =
      WideTileBytes(widest_.symbols, copy.tile_columns, copy.symbol_bytes) <= DeviceMatrixPolicy{}.tile_bytes;
  return matrix_.pages == nullptr && !sampled && fits_shared && copy.cells <= whole.cells;
}

bool ColumnCopy::Pays(FeatureIndex columns) const {
  constexpr std::uint64_t kMostListed = std::numeric_limits<std::uint32_t>::max();  // places of values have 32 bits
  if (!matrix_.view.dense && matrix_.stored > kMostListed) return false;
  DeviceMatrixView const copy = LayoutOf(columns);
  return static_cast<double>(copy.rows) * copy.tiles * copy.record_bytes() <=
         ColumnCopyPolicy{}.most_bytes * BytesOfMatrix();
}

double ColumnCopy::BytesOfMatrix() const {
  DeviceMatrixView const& m = matrix_.view;
  double const places = static_cast<double>(m.rows) * m.tiles;
  if (m.dense) return places * m.record_bytes();
  std::size_t const place = m.sparse_in_tiles() ? sizeof(*m.tile_ptr) : sizeof(*m.row_ptr);
  return static_cast<double>(matrix_.stored) * m.symbol_bytes + places * static_cast<double>(place);
}

DeviceMatrixView ColumnCopy::LayoutOf(FeatureIndex columns) const {
  DeviceMatrixPolicy const policy;
  DeviceMatrixView copy = matrix_.view;
  copy.records = nullptr;
  copy.tile = nullptr;
  if (!copy.dense) {
    copy.dense = true;
    copy.symbol_bytes = widest_.symbols <= 256 ? 1 : 2;
    copy.tile_columns = policy.record_bytes / copy.symbol_bytes;
  }
  while (copy.tile_columns / 2 >= columns && copy.tile_columns > policy.least_columns) copy.tile_columns /= 2;
  copy.tiles = (columns + copy.tile_columns - 1) / copy.tile_columns;
  copy.cells = std::uint64_t{copy.tiles} * copy.tile_columns * widest_.bins;
  copy.copied = {columns, nullptr, nullptr, matrix_.view.tile, matrix_.view.tile_columns};
  return copy;
}

void ColumnCopy::Reserve(FeatureIndex columns, std::uint64_t rows) {
  constexpr char const* kPart = "copied columns";
  FeatureIndex const features = matrix_.view.features;
  bool const is_new = columns != this->columns();
  DeviceMatrixView view = LayoutOf(columns);
  view_ = {};  // until there is room for all of it
  if (!matrix_.view.dense) lists_.Make(workspace_->stream());
  workspace_->Reserve(&places_, kPart, std::size_t{features} + columns);
  workspace_->Reserve(&records_, kPart, rows * view.tiles * view.record_bytes());
  workspace_->Reserve(&tile_array_, kPart, view.tiles);
  if (is_new) {
    tiles_.clear();
    for (std::uint32_t t = 0; t < view.tiles; ++t) {
      tiles_.push_back({std::uint64_t{t} * view.tile_columns * widest_.bins, widest_.bins, widest_.symbols});
    }
    CopyToDevice(tile_array_.data(), tiles_.data(), tiles_.size(), workspace_->stream(), "copying columns");
    workspace_->stream().Wait("copying columns");
  }
  view.tile = tile_array_.data();
  if (!matrix_.view.dense) {  // all features have the symbol for "missing" of the copy's first tile
    view.copied.tile = view.tile;
    view.copied.tile_columns = std::numeric_limits<std::uint32_t>::max();
  }
  view.records = records_.data();
  view.copied.column_of = places_.data();
  view.copied.feature_of = places_.data() + features;
  view_ = view;
}

void ColumnCopy::Tell(std::vector<FeatureIndex> const& features) {
  FeatureIndex const all = matrix_.view.features, columns = this->columns();
  FeatureIndex* const column_of = upload_.Begin(std::size_t{all} + columns);
  std::fill_n(column_of, all, FeatureIndex{0});
  for (FeatureIndex c = 0; c < columns; ++c) column_of[features[c]] = c;
  std::copy(features.begin(), features.end(), column_of + all);
  upload_.Send(places_.data(), workspace_->stream(), "copying columns");
}

}  // namespace xgbgpu::cuda
