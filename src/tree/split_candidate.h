/// The best split that a search has found for a node.
#ifndef XGBGPU_TREE_SPLIT_CANDIDATE_H_
#define XGBGPU_TREE_SPLIT_CANDIDATE_H_

#include "base/hd.h"
#include "core/fixed_point.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A split of a node. `gain` 0: the node has none. The alignment lets a device copy it in large pieces.
struct alignas(16) SplitCandidate {
  float gain{0.0f};
  FeatureIndex feature{0};
  BinIndex bin{0};           ///< first feature-local bin that goes right; 0: all present values go right
  bool default_left{false};  ///< rows that miss the feature go left
  bool categorical{false};   ///< `bin` is the number of a set of categories that go right, see category_ops.h
  GradientSum left;
  GradientSum right;
};

/// Returns true if `a` is the better split: the order of all candidates of a node. The search itself orders candidates
/// of one feature.
XGBGPU_HD bool IsBetter(SplitCandidate const& a, SplitCandidate const& b) {
  return a.gain > b.gain || (a.gain == b.gain && a.gain > 0.0f && a.feature < b.feature);
}

/// Least gain of a split that is made: XGBoost's kRtEps.
constexpr float kLeastGain = 1e-6f;

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_SPLIT_CANDIDATE_H_
