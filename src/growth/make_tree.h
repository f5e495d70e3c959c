/// Stage 8: nodes → tree: thresholds, weights, leaf values.
#ifndef XGBGPU_GROWTH_MAKE_TREE_H_
#define XGBGPU_GROWTH_MAKE_TREE_H_

#include <functional>

#include "split/category_split.h"
#include "split/constraints.h"
#include "split/split.h"
#include "tree/node.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/vector_tree.h"

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

/// The numbers of a node of a tree of vectors, [outputs] each.
struct VectorNumbers {
  GradientSum const* sums;
  float const* weights;
};
/// Makes the tree of vectors. `params`: [outputs]. numbers_of(n): of node n of the tree.
VectorTree MakeVectorTree(GrownTree const& grown, Cuts const& cuts, Span<SplitParams const> params, float learning_rate,
                          std::function<VectorNumbers(NodeIndex n)> const& numbers_of);

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_MAKE_TREE_H_
