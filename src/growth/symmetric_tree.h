/// The nodes of a symmetric tree, for every backend: the split of each level, its children, and the number of levels
/// that stay. docs/adr/0022-symmetric-trees.md
#ifndef XGBGPU_GROWTH_SYMMETRIC_TREE_H_
#define XGBGPU_GROWTH_SYMMETRIC_TREE_H_

#include <cstddef>
#include <vector>

#include "sample/sample.h"
#include "split/constraints.h"
#include "split/level_scores.h"
#include "split/symmetric_ops.h"
#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Nodes are numbered level by level, in the order of paths. The children of a node are made together. A child without
/// hessians is a leaf. A node has a sum and a weight for each output. With several outputs Node::sum only tells which
/// child has fewer rows, and whether the node has hessians.
class SymmetricTree {
 public:
  /// Begins a tree of one node. `root`: [outputs]. The data that `params` points to, `features` and `constraints` must
  /// outlive the tree's use.
  void Begin(TrainParams const& train, LevelParams const& params, FeatureSampler const& features,
             Constraints const& constraints, Span<GradientSum const> root);

  /// Returns true if the last level may be divided: it has nodes to divide, and is above the limit of depth.
  bool MayDivide() const { return depth() < most_levels_ && !active_.empty(); }
  /// Returns true if the children of the last level will not be divided, whatever the division.
  bool IsLastDivision() const { return depth() + 1 >= most_levels_; }
  /// The number of divided levels, and the depth of the last level.
  int depth() const { return static_cast<int>(levels_.size()); }
  /// The features by which the last level may be divided, ascending.
  std::vector<FeatureIndex> Features() const;
  /// The last level: its nodes [nodes, outputs], the number of the first, and the numbers of nodes that can be divided.
  Span<LevelNode const> level() const { return level_; }
  NodeIndex first() const { return first_; }
  std::vector<NodeIndex> const& active() const { return active_; }
  /// [outputs] of a node of the last level.
  LevelNode const* level_node(NodeIndex node) const {
    return level_.data() + static_cast<std::size_t>(node - first_) * params_.outputs;
  }

  /// Divides the last level. `lefts` [active(), outputs]: sums over the rows that go left. Ignores the score of
  /// `split`: the score is the sum of the gains of all divided nodes.
  void Divide(LevelSplit const& split, Span<GradientSum const> lefts);
  /// Replays the splits of `made` (same numbering), of one output. Reads `left` and `split`; ignores the gain.
  void Follow(Span<Node const> made);
  /// Cuts off trailing levels that min_split_loss does not let stay. Returns the depth that is left.
  int Cut();
  bool WasCut() const { return kept_.size() > nodes_.size(); }
  /// [nodes before Cut] The nearest remaining node, at or above each node.
  Span<NodeIndex const> kept() const { return kept_; }

  Span<Node const> nodes() const { return nodes_; }
  /// [nodes, outputs] before the learning rate.
  Span<float const> weights() const { return weights_; }
  /// [nodes, outputs]
  Span<GradientSum const> sums() const { return sums_; }

 private:
  /// A level that has been divided.
  struct Divided {
    double score;
    std::size_t nodes;  ///< nodes with a hessian
  };
  void AddNode(NodeIndex parent, Span<LevelNode const> numbers);
  template <bool kMonotone>
  void DivideLevel(LevelSplit const& split, Span<GradientSum const> lefts);

  LevelParams params_{};
  FeatureSampler const* features_{nullptr};
  Constraints const* constraints_{nullptr};
  int most_levels_{0};
  double min_split_loss_{0.0};
  std::vector<Divided> levels_;
  std::vector<LevelNode> level_;
  std::vector<NodeIndex> active_;
  NodeIndex first_{0};
  NodeLimits limits_;  ///< for interaction sets: limits of the first node of each level, which hold for all its nodes
  std::vector<Node> nodes_;
  std::vector<float> weights_;
  std::vector<GradientSum> sums_;
  std::vector<NodeIndex> kept_;  ///< [nodes before Cut]
};

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_SYMMETRIC_TREE_H_
