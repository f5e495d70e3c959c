/// Stage 8: nodes → tree: thresholds, weights, leaf values.
#ifndef XGBGPU_GROWTH_MAKE_TREE_H_
#define XGBGPU_GROWTH_MAKE_TREE_H_

#include "split/category_split.h"
#include "split/constraints.h"
#include "split/split.h"
#include "tree/node.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"

namespace xgbgpu {

/// What trees of all methods have in common: everything but thresholds, bins and categories. Cost and bits are
/// those of MakeTree.
Tree MakeTreeWithoutThresholds(Span<Node const> nodes, SplitParams const& params, float learning_rate,
                               Constraints const& constraints, Span<float const> weights = {});

/// Makes the tree. `sets` has the categories that each split by categories sends right; the split's `bin` is the number
/// of its set. `weights` of symmetric trees [nodes]; none given: they are made of the nodes' sums and constraints.
/// Cost  O(nodes).  Same  bit-equal on every backend: weights come from exact sums.
Tree MakeTree(Span<Node const> nodes, Cuts const& cuts, SplitParams const& params, float learning_rate,
              Constraints const& constraints = {}, CategorySets const& sets = {}, Span<float const> weights = {});

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_MAKE_TREE_H_
