/// Exact greedy trees: every threshold between two values of a node's rows is a candidate.
///
/// From  Chen & Guestrin, "XGBoost", KDD 2016, algorithms 1 and 3; on a device Mitchell & Frank, "Accelerating the
///       XGBoost algorithm using GPU computing", PeerJ CS 3:e127 (2017). docs/adr/0014-exact-trees.md
#ifndef XGBGPU_EXACT_EXACT_H_
#define XGBGPU_EXACT_EXACT_H_

#include <vector>

#include "exact/sorted_matrix.h"
#include "split/constraints.h"
#include "split/split.h"
#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"

namespace xgbgpu {

/// The nodes of a growing tree, and the threshold of each one's best split.
struct ExactNodes {
  std::vector<Node> nodes;
  std::vector<float> thresholds;

  Node& operator[](NodeIndex n) { return nodes[static_cast<std::size_t>(n)]; }
  Node const& operator[](NodeIndex n) const { return nodes[static_cast<std::size_t>(n)]; }
  NodeIndex Add(NodeIndex parent, GradientSum sum);
};

/// Throws Unsupported for what exact trees do not have: grow_policy=lossguide and symmetric, max_leaves, no limit of
/// depth, samples by gradient.
void ValidateExact(TrainParams const& params);

/// Returns the nodes from `first` on that will be split, ascending: all that gain anything, above the largest depth.
std::vector<NodeIndex> SelectExactNodes(ExactNodes const& nodes, NodeIndex first, TrainParams const& params);

/// Returns the format of an exact tree's gradients: the wide one (core/fixed_point.h), but with 30 bits where hist
/// would take the narrow one, so that a device may keep a row's pair in 8 bytes. They are rounded as in the wide
/// format.
GradientFormat ToExactFormat(GradientFormat format);

/// Cuts back what does not reach min_split_loss, from the leaves upwards, and numbers the rest anew: children after
/// their parents, in the old order. `node_of[n]` becomes the new number of n, or of the leaf that took its rows.
///
/// From  XGBoost's updater `prune`, which stock `exact` trees go through
ExactNodes Prune(ExactNodes const& grown, float min_split_loss, std::vector<NodeIndex>* node_of);

Tree MakeExactTree(ExactNodes const& nodes, SplitParams const& params, float learning_rate,
                   Constraints const& constraints);

namespace host {

/// A row of a growing tree. Its members are read together, and rows in no order.
struct ExactRow {
  GradientSum gradient;
  NodeIndex node;  ///< its complement for a row outside the sample
};

/// Finds the best split of each of the nodes `first` … nodes.nodes.size() - 1, all of one level, and writes it to
/// `nodes`.
///
/// A feature's candidates are the boundaries between distinct neighbours among the values of the node's sampled rows,
/// and "present or missing". Two scans: missing values to the right, ascending; missing values to the left, descending.
/// A feature that no row misses has the second scan only, and so has one whose values are all equal, as in stock
/// `exact`. Total order: gain (rounded to float) first, then the smaller feature, then the order of these scans.
///
/// In      limits    what monotone constraints leave to the nodes
///         allowed   features of each node, ascending, [nodes - first]; empty: all features everywhere
/// Cost    one or two passes over every allowed column; two divisions per candidate
/// Same    any number of threads, and every backend: integer sums, a fixed sequence of double operations
void FindExactSplits(SortedMatrix const& matrix, Span<ExactRow const> rows, SplitParams const& params,
                     Constraints const& constraints, NodeLimits const& limits, NodeIndex first,
                     std::vector<std::vector<FeatureIndex>> const& allowed, int threads, ExactNodes* nodes);

/// Moves the rows of the nodes from `first` on that have children to these, sampled or not. The children's numbers come
/// after all of these nodes'.
/// Cost  one pass over the rows and one over every column that a node is split by
void ApplyExactSplits(SortedMatrix const& matrix, ExactNodes const& nodes, NodeIndex first, Span<ExactRow> rows,
                      int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_EXACT_H_
