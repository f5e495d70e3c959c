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
  DeviceBuffer<std::uint32_t> larger{arena_, "categories", nodes * words_};
  FillBytes(larger.data(), 0, larger.size(), stream, "making room for categories");  // sets are read whole
  if (kept != 0) {
    CheckCuda(cudaMemcpyAsync(larger.data(), sets_.data(), kept * words_ * sizeof(std::uint32_t),
                              cudaMemcpyDeviceToDevice, stream),
              "making room for categories");
    stream.Wait("making room for categories");
  }
  sets_ = std::move(larger);
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
