// Reserves the memory of the search for splits of whole levels on a device.
#include <algorithm>

#include "split/level_search_cuda.h"
#include "split/split_policy.h"

namespace xgbgpu::cuda {

namespace {

/// Returns true if a row of the matrix may miss a feature.
bool MayMiss(DeviceMatrix const& matrix) {
  return !matrix.view.dense || std::any_of(matrix.tiles.begin(), matrix.tiles.end(),
                                           [](DeviceTile const& tile) { return tile.symbols > tile.bins; });
}

}  // namespace

LevelSearchWorkspace::LevelSearchWorkspace(DeviceMatrix const& matrix, ClearedWorkspace* workspace)
    : matrix_{matrix},
      workspace_{workspace},
      kinds_{MayMiss(matrix) ? 2U : 1U},
      words_{(matrix.view.features + 31) / 32} {}

std::size_t LevelSearchWorkspace::ChunkOf(std::size_t widest) const {
  std::size_t const fitting = SplitPolicy{}.most_gain_bytes / sizeof(double) / candidates();
  return std::max<std::size_t>(2, std::min(widest, fitting / 2 * 2));
}

std::size_t LevelSearchWorkspace::BytesFor(std::size_t nodes, std::size_t widest) const {
  std::size_t const blocks = LevelSearchBlocks(matrix_.cuts.ptr.back());
  return nodes * sizeof(LevelNode) + (ChunkOf(widest) + 1) * candidates() * sizeof(double) +
         (blocks + 1) * sizeof(LevelBest);
}

void LevelSearchWorkspace::Reserve(std::size_t nodes, std::size_t widest) {
  std::size_t const chunk = ChunkOf(widest);
  chunk_ = static_cast<std::uint32_t>(chunk);
  workspace_->Reserve(&nodes_, "nodes", nodes);
  workspace_->Reserve(&gains_, "split candidates", chunk * candidates());
  if (chunk < widest) workspace_->Reserve(&scores_, "split candidates", candidates());
  workspace_->Reserve(&bests_, "split candidates", LevelSearchBlocks(matrix_.cuts.ptr.back()) + 1);
}

bool LevelSearchWorkspace::SetFeatures(FeatureSampler const& sampler, int levels) {
  has_features_ = !sampler.all();
  if (!has_features_) return false;
  std::size_t const size = static_cast<std::size_t>(levels) * words_;
  std::uint32_t* const sets = upload_.Begin(size);
  std::fill_n(sets, size, 0U);
  for (int level = 0; level < levels; ++level) {
    std::uint32_t* const set = sets + static_cast<std::size_t>(level) * words_;
    for (FeatureIndex const f : sampler.Node(level, level)) set[f / 32] |= 1U << (f % 32);
  }
  bool const moved = xgbgpu::Reserve(&features_, workspace_->arena(), "features", size);
  upload_.Send(features_.data(), workspace_->stream(), "telling the features of a tree");
  return moved;
}

LevelSearchView LevelSearchWorkspace::View(int level) const {
  return {nodes_.data(),
          gains_.data(),
          scores_.data(),
          bests_.data(),
          has_features_ ? features_.data() + static_cast<std::size_t>(level) * words_ : nullptr,
          matrix_.cuts.ptr.back(),
          kinds_};
}

}  // namespace xgbgpu::cuda
