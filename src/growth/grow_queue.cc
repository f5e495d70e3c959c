#include "growth/grow_queue.h"

#include <algorithm>

namespace xgbgpu {

namespace {

/// Order of a max-heap: true if `a` comes after `b`.
struct After {
  Span<Node const> nodes;
  bool operator()(NodeIndex a, NodeIndex b) const {
    float const gain_a = nodes[static_cast<std::size_t>(a)].split.gain;
    float const gain_b = nodes[static_cast<std::size_t>(b)].split.gain;
    return gain_a != gain_b ? gain_a < gain_b : a > b;
  }
};

}  // namespace

void GrowQueue::Reset(TrainParams const& params) {
  policy_ = params.grow_policy;
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
  candidates_.push_back(node);
  if (policy_ == GrowPolicy::kLossGuide) std::push_heap(candidates_.begin(), candidates_.end(), After{nodes});
  return true;
}

std::vector<NodeIndex> GrowQueue::Pop(Span<Node const> nodes) {
  std::vector<NodeIndex> chosen;
  if (policy_ == GrowPolicy::kLossGuide) {
    if (!candidates_.empty() && LeavesLeft()) {
      std::pop_heap(candidates_.begin(), candidates_.end(), After{nodes});
      chosen.push_back(candidates_.back());
      candidates_.pop_back();
      ++leaves_;
    }
    return chosen;
  }
  // Every candidate is on one level: the previous level was taken whole. Smaller children came before their siblings.
  std::sort(candidates_.begin(), candidates_.end());
  for (NodeIndex node : candidates_) {
    if (!LeavesLeft()) break;
    chosen.push_back(node);
    ++leaves_;
  }
  candidates_.clear();
  return chosen;
}

}  // namespace xgbgpu
