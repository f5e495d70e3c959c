// The order in which depth-wise growth splits nodes: level by level.
#include <algorithm>

#include "growth/growth_order.h"

namespace xgbgpu {

namespace {

void AddLast(Span<Node const>, NodeIndex node, std::vector<NodeIndex>* candidates) { candidates->push_back(node); }

/// Takes all candidates. They are on one level, because the level before was taken whole. They are sorted, because a
/// built child was added before its sibling.
std::vector<NodeIndex> TakeLevel(Span<Node const>, int most, std::vector<NodeIndex>* candidates) {
  std::vector<NodeIndex> taken;
  taken.swap(*candidates);
  std::sort(taken.begin(), taken.end());
  if (taken.size() > static_cast<std::size_t>(most)) taken.resize(static_cast<std::size_t>(most));
  return taken;
}

}  // namespace

GrowthOrder DepthWiseOrder() { return {AddLast, TakeLevel}; }

}  // namespace xgbgpu
