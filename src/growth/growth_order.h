/// Growth policies: the order of splits of a tree's candidates. One file each: depthwise.cc, lossguide.cc.
#ifndef XGBGPU_GROWTH_GROWTH_ORDER_H_
#define XGBGPU_GROWTH_GROWTH_ORDER_H_

#include <vector>

#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The candidates of a policy, in the order of the policy.
struct GrowthOrder {
  void (*add)(Span<Node const> nodes, NodeIndex node, std::vector<NodeIndex>* candidates);
  /// Takes the candidates to split now, at most `most`, but at least one if there are any. They ascend.
  std::vector<NodeIndex> (*take)(Span<Node const> nodes, int most, std::vector<NodeIndex>* candidates);
};

/// All candidates of the shallowest level at once, in the order of node numbers.
GrowthOrder DepthWiseOrder();
/// One candidate at a time: that of the largest gain, on ties that of the smaller number. It is kept first.
GrowthOrder LossGuidedOrder();

inline GrowthOrder OrderOf(GrowPolicy policy) {
  return policy == GrowPolicy::kLossGuide ? LossGuidedOrder() : DepthWiseOrder();
}

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_GROWTH_ORDER_H_
