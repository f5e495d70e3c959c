/// Stage 7 as growth sees it: the best splits of the nodes of a level.
#ifndef XGBGPU_SPLIT_NODE_SPLITS_H_
#define XGBGPU_SPLIT_NODE_SPLITS_H_

#include <optional>
#include <vector>

#include "split/category_split.h"
#include "split/split.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// A node and its best split.
struct SplitJob {
  NodeIndex node;
  GradientSum* sums;  ///< [cells]; of a tree of vectors [outputs, cells]
  GradientSum total;  ///< over all rows of the node
  WeightBounds bounds;
  std::optional<std::vector<FeatureIndex>> features;  ///< ascending; nullopt: all features of the tree
  SplitCandidate best;                                ///< output
};

/// The children of one node, the built child first; or a root alone.
struct SplitFamily {
  std::vector<SplitJob> jobs;
  /// The second child's `sums` are still the parent's. Subtracting the first child's sums leaves its own.
  bool subtract;
};

/// Finds the best splits of trees of one kind, one tree after the other.
class NodeSplits {
 public:
  virtual ~NodeSplits() = default;

  /// Subtracts siblings, where families want it, and writes `best` of every job. The `bin` of a split by categories is
  /// the number of a set.
  virtual void Find(Span<SplitFamily> families) = 0;
  /// Returns the sets of all splits by categories so far.
  virtual CategorySets category_sets() const = 0;
  /// Learns that a node has been divided by its best split into `left` and left + 1.
  virtual void AddChildren(NodeIndex parent, NodeIndex left) = 0;
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_SPLIT_NODE_SPLITS_H_
