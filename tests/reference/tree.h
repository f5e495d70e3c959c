/// One tree by brute force: every (feature, direction, bin) of every node is tried.
#ifndef XGBGPU_TESTS_REFERENCE_TREE_H_
#define XGBGPU_TESTS_REFERENCE_TREE_H_

#include <functional>
#include <limits>
#include <vector>

#include "reference/gradient.h"
#include "reference/matrix.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/params.h"
#include "xgbgpu/tree.h"

namespace xgbgpu::reference {

/// A way to divide a node; gain 0: none.
struct Split {
  float gain{0};
  std::size_t feature{0};
  int bin{0};  ///< first feature-local bin that goes right
  bool default_left{false};
  GradientSum left, right;
  std::vector<int> categories{};  ///< that go right, ascending, if the split is by categories; `bin` is 0 then
};

/// Formulas of the KDD 2016 paper with XGBoost's L1 term and clipped weights, in double precision.
double Weight(TrainParams const& p, double grad, double hess);
double Gain(TrainParams const& p, double grad, double hess);

/// Between which weights must be.
struct Bounds {
  float lower{-std::numeric_limits<float>::max()};
  float upper{std::numeric_limits<float>::max()};
};

/// The weight in its bounds, as a float; the gain that comes with it, where there are monotone constraints.
float BoundedWeight(TrainParams const& p, double grad, double hess, Bounds bounds);
double BoundedGain(TrainParams const& p, double grad, double hess, float weight);

/// Gain of dividing a node in these two; 0 if a side is too light or the weights go against the feature's constraint.
/// With monotone constraints the children's weights are in `own` and the node's is in `above`.
float SplitGain(TrainParams const& p, FixedPoint const& units, GradientSum left, GradientSum right, std::size_t feature,
                Bounds own, Bounds above);

/// The best split of the node that holds `rows`. With monotone constraints its own gain is that with the bounds of its
/// parent, which are `above`, and its children's are those with `own`. Largest gain (as a float) first; then the
/// smaller feature; then missing values to the right before missing values to the left; then the smaller bin, or the
/// larger one if missing values go left. By categories: all sets that stock hist tries, in its
/// order.
Split FindSplit(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
                std::vector<RowIndex> const& rows, std::vector<FeatureIndex> const& features, Bounds own = {},
                Bounds above = {});

/// Features that a node at `depth` with number `node` may use.
using FeatureSet = std::function<std::vector<FeatureIndex>(int depth, NodeIndex node)>;

Tree GrowTree(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
              std::vector<RowIndex> const& sample, FeatureSet const& features);

/// Leaf of a row of raw values, by thresholds as XGBoost's models are read.
NodeIndex FindLeaf(Tree const& tree, Values const& values, std::size_t row, NodeIndex from = 0);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_TREE_H_
