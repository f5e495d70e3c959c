/// Stage 8: nodes → tree: thresholds, weights, leaf values.
#ifndef XGBGPU_TREE_LEAF_H_
#define XGBGPU_TREE_LEAF_H_

#include "split/category_split.h"
#include "split/constraints.h"
#include "split/split.h"
#include "tree/node.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"

namespace xgbgpu {

/// What trees of all methods have in common: everything but thresholds, bins and categories. Cost and bits as below.
Tree MakeTreeWithoutThresholds(Span<Node const> nodes, SplitParams const& params, float learning_rate,
                               Constraints const& constraints);

/// `sets`: of the categories of nodes whose split is by categories, by the number that is its `bin`.
/// Cost  O(nodes).  Same  bit-equal on every backend: weights come from exact sums.
Tree MakeTree(Span<Node const> nodes, Cuts const& cuts, SplitParams const& params, float learning_rate,
              Constraints const& constraints = {}, CategorySets const& sets = {});

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_LEAF_H_
