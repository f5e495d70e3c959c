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

/// The nodes of a grown tree, as its grower keeps them.
struct GrownTree {
  Span<Node const> nodes;
  Span<float const> weights{};  ///< [nodes] of a symmetric tree; none: they are made of sums and constraints
  CategorySets sets{};          ///< the categories that each split by categories sends right; its `bin` is a set
};

/// Makes the parts that trees of all methods have: everything but thresholds, bins and categories. Cost and bits as
/// MakeTree.
Tree MakeTreeWithoutThresholds(Span<Node const> nodes, SplitParams const& params, float learning_rate,
                               Constraints const& constraints, Span<float const> weights = {});

/// Makes the tree.
/// Cost  O(nodes).  Same  bit-equal on every backend: weights come from exact sums.
Tree MakeTree(GrownTree const& grown, Cuts const& cuts, SplitParams const& params, float learning_rate,
              Constraints const& constraints = {});

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_MAKE_TREE_H_
