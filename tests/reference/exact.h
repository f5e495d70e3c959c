/// Best splits of exact trees by brute force: every candidate looks at all rows of its node.
#ifndef XGBGPU_TESTS_REFERENCE_EXACT_H_
#define XGBGPU_TESTS_REFERENCE_EXACT_H_

#include <vector>

#include "reference/gradient.h"
#include "reference/matrix.h"
#include "reference/tree.h"
#include "xgbgpu/params.h"
#include "xgbgpu/types.h"

namespace xgbgpu::reference {

/// Those of the rows that have the feature, in the order of its values; equal ones in the order of their numbers.
std::vector<RowIndex> SortByValue(Values const& values, std::size_t feature, std::vector<RowIndex> rows);

/// A way to divide a node; gain 0: none.
struct ExactSplit {
  float gain{0};
  std::size_t feature{0};
  std::size_t below{0};  ///< rows of the node whose values are below the threshold
  bool default_left{false};
  float threshold{0};
  GradientSum left, right;
};

/// The best split of the node that holds `rows`, among all that stock `exact` tries, as src/exact/exact.h describes
/// them. Largest gain (as a float) first; then the smaller feature; then missing values to the right, thresholds
/// ascending, before missing values to the left, thresholds descending. `bounds`: of monotone constraints.
ExactSplit FindExactSplit(Values const& values, FixedPoint const& gradients, TrainParams const& p,
                          std::vector<RowIndex> const& rows, std::vector<FeatureIndex> const& features, Bounds bounds);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_EXACT_H_
