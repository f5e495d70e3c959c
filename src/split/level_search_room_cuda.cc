#include <algorithm>
#include <vector>

#include "split/level_search_cuda.h"
#include "split/split_policy.h"

namespace xgbgpu::cuda {

namespace {

/// Does a row miss a feature, as far as the matrix tells?
bool MayMiss(DeviceMatrix const& matrix) {
  return !matrix.view.dense || std::any_of(matrix.tiles.begin(), matrix.tiles.end(),
                                           [](DeviceTile const& tile) { return tile.symbols > tile.bins; });
}

}  // namespace

LevelSearchRoom::LevelSearchRoom(DeviceMatrix const& matrix, ClearedRoom* room)
    : matrix_{matrix}, room_{room}, kinds_{MayMiss(matrix) ? 2U : 1U}, words_{(matrix.view.features + 31) / 32} {}

std::size_t LevelSearchRoom::ChunkOf(std::size_t widest) const {
  std::size_t const fitting = SplitPolicy{}.most_gain_bytes / sizeof(double) / candidates();
  return std::max<std::size_t>(2, std::min(widest, fitting / 2 * 2));
}

std::size_t LevelSearchRoom::BytesFor(std::size_t nodes, std::size_t widest) const {
  std::size_t const blocks = LevelSearchBlocks(matrix_.cuts.ptr.back());
  return nodes * sizeof(LevelNode) + (ChunkOf(widest) + 1) * candidates() * sizeof(double) +
         (blocks + 1) * sizeof(LevelBest);
}

void LevelSearchRoom::Reserve(std::size_t nodes, std::size_t widest) {
  std::size_t const chunk = ChunkOf(widest);
  chunk_ = static_cast<std::uint32_t>(chunk);
  room_->Reserve(&nodes_, "nodes", nodes);
  room_->Reserve(&gains_, "split candidates", chunk * candidates());
  if (chunk < widest) room_->Reserve(&scores_, "split candidates", candidates());
  room_->Reserve(&bests_, "split candidates", LevelSearchBlocks(matrix_.cuts.ptr.back()) + 1);
}

bool LevelSearchRoom::SetFeatures(FeatureSampler const& sampler, int levels) {
  has_features_ = !sampler.all();
  if (!has_features_) return false;
  std::vector<std::uint32_t> sets(static_cast<std::size_t>(levels) * words_);
  for (int level = 0; level < levels; ++level) {
    std::uint32_t* const set = sets.data() + static_cast<std::size_t>(level) * words_;
    for (FeatureIndex const f : sampler.Node(level, level)) set[f / 32] |= 1U << (f % 32);
  }
  bool const moved = xgbgpu::Reserve(&features_, room_->arena(), "features", sets.size());
  CopyToDevice(features_.data(), sets.data(), sets.size(), room_->stream(), "telling the features of a tree");
  room_->stream().Wait("telling the features of a tree");
  return moved;
}

LevelSearchView LevelSearchRoom::View(int level) const {
  return {nodes_.data(),
          gains_.data(),
          scores_.data(),
          bests_.data(),
          has_features_ ? features_.data() + static_cast<std::size_t>(level) * words_ : nullptr,
          matrix_.cuts.ptr.back(),
          kinds_};
}

}  // namespace xgbgpu::cuda
