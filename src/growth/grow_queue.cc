// Keeps the nodes that may be split, in the order of a growth policy.
#include "growth/grow_queue.h"

namespace xgbgpu {

void GrowQueue::Reset(TrainParams const& params) {
  order_ = OrderOf(params.grow_policy);
  max_depth_ = params.max_depth;
  max_leaves_ = params.max_leaves;
  min_split_loss_ = params.min_split_loss;
  leaves_ = 1;
  candidates_.clear();
}

bool GrowQueue::ChildrenMaySplit(int depth) const {
  return LeavesLeft() && (max_depth_ == 0 || depth + 1 < max_depth_);
}

bool GrowQueue::IsCandidate(Node const& n) const {
  bool const deep = max_depth_ != 0 && n.depth >= max_depth_;
  return !deep && n.split.gain > kLeastGain && n.split.gain >= min_split_loss_;
}

bool GrowQueue::Push(Span<Node const> nodes, NodeIndex node) {
  if (!IsCandidate(nodes[static_cast<std::size_t>(node)])) return false;
  order_.add(nodes, node, &candidates_);
  return true;
}

std::vector<NodeIndex> GrowQueue::Pop(Span<Node const> nodes) {
  std::vector<NodeIndex> taken = order_.take(nodes, LeavesToCome(), &candidates_);
  leaves_ += static_cast<int>(taken.size());
  return taken;
}

}  // namespace xgbgpu
