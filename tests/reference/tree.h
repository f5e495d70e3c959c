/// Grows one tree by brute force: tries every (feature, direction, bin) in every node.
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

/// A way to divide a node. If gain is 0, there is none.
struct Split {
  float gain{0};
  std::size_t feature{0};
  int bin{0};  ///< first feature-local bin that goes right
  bool default_left{false};
  GradientSum left, right;
  std::vector<int> categories{};  ///< a split by categories sends these right (ascending); `bin` is 0 then
};

/// Formulas of the KDD 2016 paper with XGBoost's L1 term and clipped weights, in double precision.
double Weight(TrainParams const& p, double grad, double hess);
double Gain(TrainParams const& p, double grad, double hess);

/// Weights must lie between these.
struct Bounds {
  float lower{-std::numeric_limits<float>::max()};
  float upper{std::numeric_limits<float>::max()};
};

/// The weight within its bounds, as a float; the gain of that weight, where there are monotone constraints.
float BoundedWeight(TrainParams const& p, double grad, double hess, Bounds bounds);
double BoundedGain(TrainParams const& p, double grad, double hess, float weight);

/// Returns the gain of dividing a node in these two; 0 if a side is too light or weights break the feature's
/// constraint. With monotone constraints the children's weights are in `own` and the node's is in `above`.
float SplitGain(TrainParams const& p, FixedPoint const& units, GradientSum left, GradientSum right, std::size_t feature,
                Bounds own, Bounds above);

/// Returns the best split of the node that holds `rows`. With monotone constraints the node's gain is taken with its
/// parent's bounds, `above`, and the children's gains with `own`. The largest gain, as a float, wins. Of equal gains
/// the smaller feature wins; then missing values to the right; then the smaller bin, or the larger one if missing
/// values go left. Of categories all sets that stock hist tries are tried, in its order.
Split FindSplit(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
                std::vector<RowIndex> const& rows, std::vector<FeatureIndex> const& features, Bounds own = {},
                Bounds above = {});

/// Returns the features that a node at `depth` with number `node` may use. Symmetric trees ask once for each level,
/// with the depth as the number.
using FeatureSet = std::function<std::vector<FeatureIndex>(int depth, NodeIndex node)>;

Tree GrowTree(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
              std::vector<RowIndex> const& sample, FeatureSet const& features);

/// Returns the leaf of a row of raw values. Thresholds are read as XGBoost reads those of a model.
NodeIndex FindLeaf(Tree const& tree, Values const& values, std::size_t row, NodeIndex from = 0);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_TREE_H_
