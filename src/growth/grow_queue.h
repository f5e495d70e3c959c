/// Which nodes are split next: the candidates in the order of a growth policy, and the limits on depth, leaves, gain.
#ifndef XGBGPU_GROWTH_GROW_QUEUE_H_
#define XGBGPU_GROWTH_GROW_QUEUE_H_

#include <vector>

#include "growth/growth_order.h"
#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// The candidates of one tree. A node is split only if its gain reaches min_split_loss (pruning before growth, as in
/// XGBoost's hist), while the number of leaves is below max_leaves and its depth below max_depth.
class GrowQueue {
 public:
  void Reset(TrainParams const& params);

  /// Returns true if a node may be split. Its best split must be known.
  bool IsCandidate(Node const& node) const;
  /// Leaves that the tree may still get; a large number if there is no limit.
  int LeavesToCome() const { return max_leaves_ == 0 ? 1 << 30 : max_leaves_ - leaves_; }
  /// Adds a node if it is a candidate; else returns false.
  bool Push(Span<Node const> nodes, NodeIndex node);
  /// Loss-guided: the node that Pop would return; kNoNode if none.
  NodeIndex Next() const { return candidates_.empty() || !LeavesLeft() ? kNoNode : candidates_.front(); }
  /// The nodes to split now, ascending; empty: the tree is finished.
  std::vector<NodeIndex> Pop(Span<Node const> nodes);
  /// Returns true if children of a node at `depth` may still be split. Otherwise their histograms are not needed.
  bool ChildrenMaySplit(int depth) const;

 private:
  bool LeavesLeft() const { return max_leaves_ == 0 || leaves_ < max_leaves_; }

  GrowthOrder order_{DepthWiseOrder()};
  int max_depth_{0};
  int max_leaves_{0};
  float min_split_loss_{0};
  int leaves_{1};
  std::vector<NodeIndex> candidates_;  ///< in the order that order_ keeps
};

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_GROW_QUEUE_H_
