// The order in which loss-guided growth splits nodes: by loss reduction.
#include <algorithm>

#include "growth/growth_order.h"

namespace xgbgpu {

namespace {

/// Orders a max-heap: true if `a` comes after `b`.
struct After {
  Span<Node const> nodes;
  bool operator()(NodeIndex a, NodeIndex b) const {
    float const gain_a = nodes[static_cast<std::size_t>(a)].split.gain;
    float const gain_b = nodes[static_cast<std::size_t>(b)].split.gain;
    return gain_a != gain_b ? gain_a < gain_b : a > b;
  }
};

void Push(Span<Node const> nodes, NodeIndex node, std::vector<NodeIndex>* candidates) {
  candidates->push_back(node);
  std::push_heap(candidates->begin(), candidates->end(), After{nodes});
}

std::vector<NodeIndex> TakeBest(Span<Node const> nodes, int most, std::vector<NodeIndex>* candidates) {
  if (candidates->empty() || most < 1) return {};
  std::pop_heap(candidates->begin(), candidates->end(), After{nodes});
  NodeIndex const best = candidates->back();
  candidates->pop_back();
  return {best};
}

}  // namespace

GrowthOrder LossGuidedOrder() { return {Push, TakeBest}; }

}  // namespace xgbgpu
