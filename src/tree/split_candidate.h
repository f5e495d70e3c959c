/// What the search for splits answers for a node.
#ifndef XGBGPU_TREE_SPLIT_CANDIDATE_H_
#define XGBGPU_TREE_SPLIT_CANDIDATE_H_

#include "base/hd.h"
#include "core/fixed_point.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A way to divide a node. `gain` 0 means that there is none. It is aligned so that a device copies it in large pieces.
struct alignas(16) SplitCandidate {
  float gain{0.0f};
  FeatureIndex feature{0};
  BinIndex bin{0};           ///< first feature-local bin that goes right; 0: all present values do
  bool default_left{false};  ///< where rows go in which the feature is missing
  bool categorical{false};   ///< `bin` stands for a set of categories that go right, see category_ops.h
  GradientSum left;
  GradientSum right;
};

/// True if `a` is to be preferred: the order of all candidates of a node. Candidates of one feature are compared where
/// they are made.
XGBGPU_HD bool IsBetter(SplitCandidate const& a, SplitCandidate const& b) {
  return a.gain > b.gain || (a.gain == b.gain && a.gain > 0.0f && a.feature < b.feature);
}

/// Splits with a smaller gain are not made: XGBoost's kRtEps.
constexpr float kLeastGain = 1e-6f;

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_SPLIT_CANDIDATE_H_
