/// Exact greedy trees: every threshold between two values of a node's rows is a candidate. docs/adr/0014-exact-trees.md
///
/// From  Chen & Guestrin, "XGBoost", KDD 2016, algorithms 1 and 3; on a device Mitchell & Frank, "Accelerating the
///       XGBoost algorithm using GPU computing", PeerJ CS 3:e127 (2017)
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

/// The nodes of a growing tree, with the thresholds of their best splits.
struct ExactNodes {
  std::vector<Node> nodes;
  std::vector<float> thresholds;  ///< [nodes] `value < threshold` goes left

  Node& operator[](NodeIndex n) { return nodes[static_cast<std::size_t>(n)]; }
  Node const& operator[](NodeIndex n) const { return nodes[static_cast<std::size_t>(n)]; }
  /// Appends a leaf and returns its number.
  NodeIndex Add(NodeIndex parent, GradientSum sum);
};

/// Throws Unsupported for parameters that exact trees do not have: grow_policy=lossguide and symmetric, max_leaves,
/// max_depth=0, samples by gradient.
void ValidateExact(TrainParams const& params);

/// Returns the nodes from `first` on that will be split, ascending: nodes with a positive gain above the largest depth.
std::vector<NodeIndex> SelectExactNodes(ExactNodes const& nodes, NodeIndex first, TrainParams const& params);

/// Returns the format of an exact tree's gradients: the wide format (core/fixed_point.h), with 30 bits if `format` is
/// narrow. A device keeps a row's pair of 30 bits in 8 bytes. Rounding is the wide format's.
GradientFormat ToExactFormat(GradientFormat format);

/// Removes splits that gain less than min_split_loss, from the leaves upwards, and renumbers the remaining nodes:
/// children after their parents, in the old order. `node_of[n]` becomes the new number of n, or of the leaf that took
/// the rows of n.
///
/// From  XGBoost's updater `prune`, which stock `exact` trees go through
ExactNodes Prune(ExactNodes const& grown, float min_split_loss, std::vector<NodeIndex>* node_of);

/// Returns the finished tree of `nodes`.
Tree MakeExactTree(ExactNodes const& nodes, SplitParams const& params, float learning_rate,
                   Constraints const& constraints);

namespace host {

/// A row of a growing tree. Columns name rows in random order, so both members share a cache line.
struct ExactRow {
  GradientSum gradient;
  NodeIndex node;  ///< the node's complement for a row outside the sample
};

/// The input of a search for the best splits of one level.
struct ExactLevelView {
  SortedMatrix const& matrix;
  Span<ExactRow const> rows;  ///< [matrix.rows]
  SplitParams const& params;
  Constraints const& constraints;
  NodeLimits const& limits;                               ///< bounds of the nodes' weights
  NodeIndex first;                                        ///< first node of the level
  std::vector<std::vector<FeatureIndex>> const& allowed;  ///< [level's nodes] ascending features of each node; empty:
                                                          ///< every node may be split by every feature
};

/// Finds the best split of each node from level.first on and writes it to `nodes`.
///
/// A feature's candidates are the boundaries between distinct neighbours among the values of the node's sampled rows,
/// and "present or missing". Two scans: missing values to the right, ascending; missing values to the left, descending.
/// Dense and constant features have the second scan only, as in stock `exact`. Total order: gain (rounded to float)
/// first, then the smaller feature, then the order of the scans.
///
/// Cost    one or two passes over every allowed column; two divisions per candidate
/// Same    any number of threads, and every backend: integer sums, a fixed sequence of double operations
void FindExactSplits(ExactLevelView const& level, int threads, ExactNodes* nodes);

/// Moves the rows of nodes from `first` on to the nodes' children, sampled or not. A child's number is larger than the
/// numbers of all nodes of the level.
/// Cost  one pass over the rows and one over every column that a node is split by
void ApplyExactSplits(SortedMatrix const& matrix, ExactNodes const& nodes, NodeIndex first, Span<ExactRow> rows,
                      int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_EXACT_H_
