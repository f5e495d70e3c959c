// Keeps the sets of categories of a growing tree's splits on a device.
#include "split/category_sets.h"

#include <algorithm>
#include <utility>

namespace xgbgpu::cuda {

CategorySetWorkspace::CategorySetWorkspace(DeviceMatrix const& matrix, std::uint32_t blocks, DeviceArena* arena)
    : arena_{arena} {
  DeviceMatrixView const& m = matrix.view;
  std::uint32_t most = 0;
  for (FeatureIndex f = 0; f < m.features; ++f) {
    if (!matrix.cuts.IsCategorical(f)) continue;
    BinIndex const missing = m.dense ? matrix.tiles[f / m.tile_columns].bins : matrix.cuts.bins(f);
    words_ = std::max(words_, missing / 32 + 1);
    most = std::max(most, matrix.cuts.bins(f));
  }
  if (most <= kSharedCategories) return;
  sort_items_ = 1;
  while (sort_items_ < most) sort_items_ *= 2;
  sort_workspace_ = {arena, "categories", std::size_t{blocks} * sort_items_};
}

bool CategorySetWorkspace::Reserve(std::size_t nodes, std::size_t kept, Stream const& stream) {
  if (!any() || sets_.size() >= nodes * words_) return false;
  Enlarge(&sets_, arena_, "categories", kept * words_, nodes * words_, stream);
  std::size_t const old = kept * words_;
  FillBytes(sets_.data() + old, 0, sets_.size() - old, stream, "making room for categories");  // sets are read whole
  return true;
}

DeviceCategories CategorySetWorkspace::View() const {
  return {sets_.data(), words_, sort_items_, sort_workspace_.data()};
}

CategorySets CategorySetWorkspace::Read(std::size_t nodes, Stream const& stream) {
  host_sets_.resize(nodes * words_);
  CopyToHost(host_sets_.data(), sets_.data(), host_sets_.size(), stream, "reading categories");
  stream.Wait("reading categories");
  return {host_sets_, words_};
}

}  // namespace xgbgpu::cuda
