// Lays out copies of columns, and tells the device which feature is where.
#include "sample/column_copy_cuda.h"

#include <algorithm>

#include "matrix/device_matrix_policy.h"
#include "sample/column_copy_policy.h"

namespace xgbgpu::cuda {

ColumnCopy::ColumnCopy(DeviceMatrix const& matrix, ClearedWorkspace* workspace)
    : matrix_{matrix}, workspace_{workspace} {
  for (DeviceTile const& tile : matrix.tiles) {
    widest_.bins = std::max(widest_.bins, tile.bins);
    widest_.symbols = std::max(widest_.symbols, tile.symbols);
  }
}

bool ColumnCopy::Pays(FeatureIndex columns) const {
  DeviceMatrixView const& whole = matrix_.view;
  // In core the levels of a matrix of one tile take little time, whatever its columns.
  bool const is_small = matrix_.pages == nullptr && whole.tiles == 1;
  if (!whole.dense || is_small || !matrix_.cuts.categorical.empty()) return false;
  DeviceMatrixView const copy = LayoutOf(columns);
  return static_cast<double>(copy.tiles) * copy.record_bytes() <=
         ColumnCopyPolicy{}.most_bytes * whole.tiles * whole.record_bytes();
}

DeviceMatrixView ColumnCopy::LayoutOf(FeatureIndex columns) const {
  DeviceMatrixView copy = matrix_.view;
  copy.records = nullptr;
  copy.tile = nullptr;
  std::uint32_t const least = DeviceMatrixPolicy{}.least_columns;
  while (copy.tile_columns / 2 >= columns && copy.tile_columns > least) copy.tile_columns /= 2;
  copy.tiles = (columns + copy.tile_columns - 1) / copy.tile_columns;
  copy.cells = std::uint64_t{copy.tiles} * copy.tile_columns * widest_.bins;
  copy.copied = {columns, nullptr, nullptr, matrix_.view.tile, matrix_.view.tile_columns};
  return copy;
}

void ColumnCopy::Reserve(FeatureIndex columns, std::uint64_t rows) {
  constexpr char const* kPart = "copied columns";
  FeatureIndex const features = matrix_.view.features;
  bool const is_new = columns != this->columns();
  view_ = LayoutOf(columns);
  workspace_->Reserve(&places_, kPart, std::size_t{features} + columns);
  workspace_->Reserve(&records_, kPart, rows * view_.tiles * view_.record_bytes());
  workspace_->Reserve(&tile_array_, kPart, view_.tiles);
  if (is_new) {
    tiles_.clear();
    for (std::uint32_t t = 0; t < view_.tiles; ++t) {
      tiles_.push_back({std::uint64_t{t} * view_.tile_columns * widest_.bins, widest_.bins, widest_.symbols});
    }
    CopyToDevice(tile_array_.data(), tiles_.data(), tiles_.size(), workspace_->stream(), "copying columns");
    workspace_->stream().Wait("copying columns");
  }
  view_.tile = tile_array_.data();
  view_.records = records_.data();
  view_.copied.column_of = places_.data();
  view_.copied.feature_of = places_.data() + features;
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
