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

/// Returns those of the rows that have the feature, in the order of its values. Rows of equal values keep their order.
std::vector<RowIndex> SortByValue(Values const& values, std::size_t feature, std::vector<RowIndex> rows);

/// A way to divide a node. If gain is 0, there is none.
struct ExactSplit {
  float gain{0};
  std::size_t feature{0};
  std::size_t below{0};  ///< rows of the node whose values are below the threshold
  bool default_left{false};
  float threshold{0};
  GradientSum left, right;
};

/// Returns the best split of the node that holds `rows`, among all that stock `exact` tries (src/exact/exact.h). The
/// largest gain, as a float, wins. Of equal gains the smaller feature wins; of one feature, the split that comes first:
/// missing values to the right, thresholds ascending, then missing values to the left, thresholds descending.
/// `bounds` are those of monotone constraints.
ExactSplit FindExactSplit(Values const& values, FixedPoint const& gradients, TrainParams const& p,
                          std::vector<RowIndex> const& rows, std::vector<FeatureIndex> const& features, Bounds bounds);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_EXACT_H_
