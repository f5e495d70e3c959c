// Trees of the engine, handed to XGBoost where it asked for them.
#include "xgb/updater.h"

#include <utility>

namespace xgbgpu::plugin {

void NewTrees::Store(std::size_t i, Tree const& tree, float learning_rate) const {
  CopyTree(tree, learning_rate, trees_[i]);
}

void NewTrees::Store(std::size_t XGBGPU_SINCE_302(i), VectorTree const& XGBGPU_SINCE_302(tree)) const {
  XGBGPU_SINCE_302(CopyTree(tree, trees_[i]);)
}

void NewTrees::StorePositions(std::size_t i, std::vector<NodeIndex> positions) const {
  positions_[i].HostVector() = std::move(positions);
}

bool XgbUpdater::AddNewest(xgboost::DMatrix const* data, XgbMarginView margins) {
  float* const first = margins.Size() == 0 ? nullptr : margins.Values().data();
  if (newest_ == nullptr || !AddNewestLeaves(data, first, margins.Stride(0))) return false;
  newest_ = nullptr;
  return true;
}

std::vector<float> XgbUpdater::NewestLeafValues() const { return LeafValues(*newest_); }

}  // namespace xgbgpu::plugin
